/** `bench-http init`: looks at a project, tries to start its server, and writes the manifest that worked. */
import { defineCommand, flag, option, repeated } from '../cli/command.ts';
import { seconds, text } from '../cli/values.ts';
import { existsSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { describeStart, findStarts, type Start } from 'bench-targets/catalogue/apps/starts';
import { findNeeds } from 'bench-targets/catalogue/apps/needs';
import { joinWords } from 'bench-targets/catalogue/apps/words';
import { BenchError } from 'bench-model/errors';
import { START_SECONDS } from 'bench-model/options';
import { checkDraft } from '../init/manifest.ts';
import { ask, say } from '../init/say.ts';
import { tryStart } from '../init/tryout.ts';

/** The files that are listed as found. */
const TELLING =
  /^(pyproject\.toml|uv\.lock|poetry\.lock|requirements.*\.txt|\.python-version|\.nvmrc|\.node-version|package\.json|pnpm-lock\.yaml|package-lock\.json|yarn\.lock|go\.mod|Cargo\.(toml|lock)|Procfile)$/;

/** A parsed `bench-http init` command. */
interface InitRequest {
  folder: string;
  run?: string | undefined;
  get: string[];
  output?: string | undefined;
  startTimeout?: number | undefined;
  yes: boolean;
}

export default defineCommand({
  name: 'init',
  about:
    'Examines a project, starts its server, sends it requests, and writes the stack.json that worked. Prints its findings and its assumptions. Changes no other file.',
  arguments: {
    terms: '[folder]',
    noun: 'folder',
    help: 'the folder of the project (default: the current one)',
    example: 'bench-http init ./my-api',
  },
  options: {
    run: option('<command>', text, {
      help: 'the command that starts the server, with {port}; PORT and HOST are set too',
      usually: 'found in the project',
    }),
    get: repeated('<path>', text, { help: 'a path to request, instead of one that the server offers' }),
    output: option('<file>', text, { help: 'another file in the folder', usually: 'stack.json' }),
    'start-timeout': option('<seconds>', seconds(), {
      help: 'how long the server may take to listen; written to the manifest',
      usually: String(START_SECONDS),
    }),
    yes: flag({ help: 'choose the first of several possibilities instead of asking' }),
  },
  notes:
    'Exit codes: 0 written, 1 the server does not start or answer, 2 bad usage or an\nunanswered question, 3 a toolchain is missing, 130 interrupted.',
  read: (values, [folder = '.']): InitRequest => ({ ...values, folder }),
  async run(asked) {
    const root = resolve(asked.folder);
    if (!statSync(root, { throwIfNoEntry: false })?.isDirectory())
      throw new BenchError('usage', `${asked.folder}: not a folder`, 'name the folder of your project');
    const file = resolve(asked.output ?? join(root, 'stack.json'));
    refuseOutput(file, root, asked);
    const found = readdirSync(root).filter((name) => TELLING.test(name));
    say('found', found.length === 0 ? 'no file of a known package manager' : found.join(', '));
    const start = await chooseStart(root, asked);
    const needs = findNeeds(root);
    for (const { why, name } of needs) say('found', `${why}, so the service "${name}" is tried`);
    const tried = await tryStart(start, needs, { root, file, asked }).catch((error: unknown) => {
      // A server may need another address than that of the service, or none.
      if (needs.length === 0 || !(error instanceof BenchError) || error.code === 'interrupted') throw error;
      say('left out', `the services: ${error.message.split('\n')[0]}`);
      return tryStart(start, [], { root, file, asked });
    });
    const { manifest } = tried;
    checkDraft(manifest, file);
    writeFileSync(file, `${JSON.stringify(manifest, null, 2)}\n`, { flag: 'wx' });
    const shown = relative(process.cwd(), file);
    say('wrote', shown);
    const words = shown === 'stack.json' ? '' : ` --stack ${shown}`;
    say('next', `bench-http bench${words}`);
  },
});

/** Throws a usage error if the manifest exists, or would describe another folder. */
function refuseOutput(file: string, root: string, { folder }: InitRequest): void {
  const shown = relative(process.cwd(), file);
  if (dirname(file) !== root) {
    throw new BenchError(
      'usage',
      `--output ${shown}: a manifest describes the folder that it is in`,
      `name a file in ${folder}`,
    );
  }
  if (existsSync(file)) {
    throw new BenchError(
      'usage',
      `${shown} exists, and is not overwritten`,
      `name another file: --output ${join(dirname(shown), 'stack-new.json')}`,
    );
  }
}

/** Chooses how the server starts. Throws a usage error if that is open and nobody can be asked. */
async function chooseStart(root: string, { run, yes }: InitRequest): Promise<Start> {
  if (run !== undefined) return describeStart(root, run);
  const starts = findStarts(root);
  for (const { why } of starts) say('found', why);
  const [first, ...others] = starts;
  if (first === undefined) {
    const typed = await ask('Which command starts the server? It gets its port by {port} or PORT: ');
    if (typed !== undefined) return describeStart(root, typed);
    throw new BenchError(
      'usage',
      'nothing in the project tells how its server starts',
      "name the command: --run 'uvicorn app:app --port {port}'",
    );
  }
  if (others.length === 0) {
    say('assumed', `${joinWords(first.command)}: the only start command that the project tells`);
    return first;
  }
  const lines = starts.map(({ command }, index) => `  ${index + 1}  ${joinWords(command)}`);
  const typed = yes ? '1' : await ask(`${lines.join('\n')}\nWhich command starts the server? [1] `);
  if (typed === undefined) {
    throw new BenchError(
      'usage',
      [`the server can start in ${starts.length} ways:`, ...lines].join('\n'),
      `choose one with --run '${joinWords(first.command)}', or accept the first with --yes`,
    );
  }
  const chosen = starts[Number(typed === '' ? 1 : typed) - 1];
  if (chosen === undefined) return describeStart(root, typed);
  say('assumed', `${joinWords(chosen.command)}: ${yes ? `the first of ${starts.length}` : 'your choice'}`);
  return chosen;
}
