/** The command `bench-http` of the package. */
import { createRequire } from 'node:module';
import { runBench } from './bench.ts';
import { print, type Runner } from './shell.ts';

/** The commands of the package; each is loaded when it is asked for. */
const COMMANDS: Record<string, { about: string; load: () => Promise<Runner> }> = {
  bench: { about: 'measure servers; the word bench can be omitted', load: async () => runBench },
  warm: {
    about: 'study how long servers take to warm up',
    load: async () => (await import('./warm.ts')).runWarm,
  },
  init: {
    about: 'look at a project, and write the manifest that starts its server',
    load: async () => (await import('./init.ts')).runInit,
  },
  compare: {
    about: 'compare the targets of a run, or two runs',
    load: async () => (await import('./compare.ts')).runCompare,
  },
  ci: {
    about: 'measure what bench.config.json names, and judge its budgets',
    load: async () => (await import('./ci.ts')).runCi,
  },
  report: {
    about: 'print a stored run again',
    load: async () => (await import('./report.ts')).runReport,
  },
  preflight: {
    about: 'check whether this machine is fit to measure on',
    load: async () => (await import('./preflight.ts')).runPreflight,
  },
  stacks: {
    about: 'list the targets and runtimes that are available here',
    load: async () => (await import('./stacks.ts')).runStacks,
  },
  serve: {
    about: 'start one server to try it by hand',
    load: async () => (await import('./serve.ts')).runServe,
  },
  clean: {
    about: 'list and remove environments, builds and runs',
    load: async () => (await import('./clean.ts')).runClean,
  },
};

/** Runs `bench-http <words>` and returns the exit code. */
export async function main(words: readonly string[]): Promise<number> {
  const [first = '--help', ...rest] = words;
  if (words.length < 2 && (first === '--help' || first === '-h')) {
    print(overview());
    return 0;
  }
  if (first === '--version') {
    print(`${version()}\n`);
    return 0;
  }
  const command = Object.hasOwn(COMMANDS, first) ? COMMANDS[first] : undefined;
  if (command === undefined) return runBench(words);
  return (await command.load())(rest);
}

function overview(): string {
  const width = Math.max(...Object.keys(COMMANDS).map((name) => name.length));
  const lines = Object.entries(COMMANDS).map(([name, { about }]) => `  ${name.padEnd(width)}  ${about}`);
  return [
    'Compares HTTP servers on this machine.',
    '',
    "  bench-http --app ./myapp --run 'uvicorn app:app --port {port}' --get '/orders?limit=20' --python 3.12,3.13",
    '',
    'Commands:',
    ...lines,
    '',
    'bench-http <command> --help shows the options of a command.',
    'Runs are stored in .bench/results of the project. Environments are kept in the user cache.',
    '',
  ].join('\n');
}

function version(): string {
  return (createRequire(import.meta.url)('bench-http/package.json') as { version: string }).version;
}
