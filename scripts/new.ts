import { defineCommand, option } from 'bench-http/cli/command';
import { listOf, oneOf, text } from 'bench-http/cli/values';
import { commandLine, HOME, typePnpm } from 'bench-machine/home';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { scaffold, type NewStack, LANGUAGES } from './new-stack/scaffold.ts';
import { readStacks, ROOT } from 'bench-targets/catalogue/stacks';
import { BenchError } from 'bench-model/errors';
import { run, type SubprocessError } from 'bench-machine/subprocess';
import { pnpmCommand } from 'bench-targets/prepare/projects/managers';
import { lastLine } from 'bench-targets/prepare/failures';
import { provideUv } from 'bench-targets/prepare/uv';
import { fail, print, logLine } from 'bench-http/terminal/shell';

/** Returns the newest npm versions of the packages, which the workspace pins. The lock pins those of Python. */
async function findVersions({ language, packages }: NewStack): Promise<string[]> {
  return language === 'typescript' ? Promise.all(packages.map(findVersion)) : [];
}

async function findVersion(name: string): Promise<string> {
  try {
    return (await runPnpm(['view', name, 'version'])).trim();
  } catch (error) {
    const { stderr, message } = error as SubprocessError;
    const why = lastLine(stderr) || message;
    throw new BenchError(
      'usage',
      `npm returned no version of "${name}": ${why}`,
      'check the name and the network',
    );
  }
}

/** Updates the locks of the language. Returns the errors of the failed steps. */
async function lock({ name, language }: NewStack): Promise<BenchError[]> {
  const failed: BenchError[] = [];
  for (const { file, also = [], command, work, cure = '' } of stepsFor(language, name)) {
    logLine(`locking: ${command}`);
    try {
      await work();
      for (const one of [file, ...also]) print(`changed  ${one}\n`);
    } catch (error) {
      failed.push(
        new BenchError('toolchain', `${file} is not up to date: ${whyIn(error)}`, `${cure}run ${command}`),
      );
    }
  }
  return failed;
}

/** Returns the last line of a tool's output, or everything that lock.sh reports to the user. */
function whyIn(error: unknown): string {
  const { stderr = '', message } = error as SubprocessError | (Error & { stderr?: never });
  const [, told] = /^lock\.sh: ([^]*)/.exec(stderr.trim()) ?? [];
  return told ?? (lastLine(stderr) || message);
}

/** A lock file, and the command that updates it. */
interface Step {
  file: string;
  /** Other locks that follow it. */
  also?: string[];
  command: string;
  /** Comes before that command if a package may have a wrong name. */
  cure?: string;
  work: () => Promise<unknown>;
}

function stepsFor(language: NewStack['language'], name: string): Step[] {
  if (language === 'python') {
    const python = async (): Promise<void> => {
      await provideUv(HOME.cache);
      await run([join(ROOT, 'python', 'lock.sh'), name]);
    };
    return [
      {
        file: `python/${name}/requirements.txt`,
        also: ['python/dev-requirements.txt'],
        command: `python/lock.sh ${name}`,
        cure: `if the name of a package is wrong, correct it in python/${name}/pyproject.toml; then `,
        work: python,
      },
    ];
  }
  const install = {
    file: 'pnpm-lock.yaml',
    command: `${typePnpm()} install`,
    work: () => runPnpm(['install', '--no-frozen-lockfile']),
  };
  if (language !== 'rust') return [install];
  const args = ['update', '--workspace', '--offline', '--manifest-path', 'packages/rustcontract/Cargo.toml'];
  const cargo = () => run(['cargo', ...args], { cwd: ROOT });
  return [
    install,
    { file: 'packages/rustcontract/Cargo.lock', command: `cargo ${args.join(' ')}`, work: cargo },
  ];
}

async function runPnpm(args: string[]): Promise<string> {
  return (await run([...(await pnpmCommand()), ...args], { cwd: ROOT, timeoutMs: 600_000 })).stdout;
}

function describeNext({ name, language, packages: [framework] }: NewStack, folder: string): string {
  const use = USE[language](framework ?? 'the framework', name);
  const lines = [
    '',
    `It serves the workload devices without ${language === 'rust' ? 'any other framework than actix-web' : 'a framework'}. Try it:`,
    `  ${commandLine(`serve ${name}`)}`,
    `  ${commandLine(`bench ${name} --quick`)}`,
    '',
    'To use a framework:',
    ...use.map((line, index) => `  ${index + 1}. ${line}`),
    `  ${use.length + 1}. In ${folder}/stack.json, set "framework", "class": "framework" and the "note".`,
    `  ${use.length + 2}. Add its row to the table of stacks in docs/reference/workloads.md.`,
    `  ${use.length + 3}. Add "${name}" to BUILT_IN in packages/bench-targets/src/catalogue/stacks.ts.`,
    `  ${use.length + 4}. Check it: ${commandLine(`check ${name}`)}`,
    '',
    'docs/development/workloads.md lists what each workload requires of a server.',
    '',
  ];
  return lines.join('\n');
}

/** The steps from the generated server to one that uses a framework. */
const USE: Record<NewStack['language'], (framework: string, name: string) => string[]> = {
  typescript: (framework, name) => [
    `In packages/${name}/src/server.ts, answer with ${framework}, and pass its package to serve() instead of undefined.`,
    'Give its node:http server to listen(): it sets keep-alive, the accept queue and nodelay.',
  ],
  python: (framework, name) => [
    `In python/${name}/src/bench_${name.replaceAll('-', '_')}/app.py, make the app of ${framework}, and pass framework="…" to serve() in __main__.py.`,
    `After a change of dependencies: python/lock.sh ${name}`,
  ],
  go: (_, name) => [
    `go -C packages/${name} get MODULE`,
    `In packages/${name}/main.go, answer with it, and set Framework in contract.About.`,
  ],
  rust: (_, name) => [
    `cargo add --manifest-path packages/${name}/Cargo.toml CRATE`,
    `In packages/${name}/src/main.rs, answer with it, and pass its crate to attest().`,
  ],
};

const NEW_EXAMPLE = commandLine('new stack koa --language typescript');

export default defineCommand({
  name: 'new',
  about:
    'Writes a new stack that serves the workload devices and passes its contract tests, and prints the next steps. It overwrites nothing.',
  arguments: {
    terms: '<stack> <name>',
    noun: 'stack',
    help: 'the word "stack"',
    more: 'the name of the stack: lower-case letters, digits and dashes',
    example: NEW_EXAMPLE,
  },
  options: {
    language: option('<language>', oneOf(LANGUAGES), { help: `${LANGUAGES.join(', ')} (required)` }),
    framework: option('<packages>', listOf(text), {
      help: 'packages to depend on, from npm (typescript) or PyPI (python), the framework first: koa,@types/koa',
      needs: 'language',
    }),
  },
  read({ language, framework, args: [kind, name = ''] }): NewStack {
    if (kind !== 'stack') {
      throw new BenchError('usage', `${commandLine('new')} writes a stack, not "${kind}"`, NEW_EXAMPLE);
    }
    if (language === undefined) {
      throw new BenchError(
        'usage',
        '--language is missing',
        `add --language with one of ${LANGUAGES.join(', ')}`,
      );
    }
    if (framework !== undefined && language !== 'typescript' && language !== 'python') {
      throw new BenchError(
        'usage',
        `--framework is not possible with --language ${language}`,
        'omit it: the next steps that it prints say how to add a framework',
      );
    }
    return { name, language, packages: framework ?? [] };
  },
  async run(wanted) {
    // A taken name is refused before any registry is asked.
    scaffold(ROOT, wanted, readStacks());
    const versions = await findVersions(wanted);
    const { folder, files, edits } = scaffold(ROOT, wanted, readStacks(), versions);
    for (const { path, text: content } of files) {
      mkdirSync(dirname(join(ROOT, path)), { recursive: true });
      writeFileSync(join(ROOT, path), content, { flag: 'wx' });
      print(`wrote    ${path}\n`);
    }
    for (const { path, text: content } of edits) {
      writeFileSync(join(ROOT, path), content);
      print(`changed  ${path}\n`);
    }
    const failed = await lock(wanted);
    print(describeNext(wanted, folder));
    for (const error of failed) fail(error);
    return failed[0]?.exitCode ?? 0;
  },
});
