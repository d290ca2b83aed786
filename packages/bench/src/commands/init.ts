/** `bench-http init`: looks at a project, tries to start its server, and writes the manifest that worked. */
import { PACKAGES } from 'bench-targets/catalogue/packages';
import { defineCommand, flag, option, repeated } from '../cli/command.ts';
import { PATHS, header, text } from '../cli/values.ts';
import { lstatSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { isFolder } from 'bench-machine/files';
import { isBunOrDeno } from 'bench-targets/catalogue/apps/starts';
import { joinWords } from 'bench-targets/catalogue/apps/words';
import { BenchError } from 'bench-model/errors';
import { MOST_ALONE } from 'bench-targets/catalogue/workloads/requests/sent';
import { tryGit } from 'bench-machine/git';
import { refuseUnset } from 'bench-targets/catalogue/workloads/requests/compose';
import { holdsSecret } from 'bench-machine/redact';
import { checkDraft } from '../init/manifest.ts';
import { say } from '../init/say.ts';
import { chooseStarts, tryStarts } from '../init/starts.ts';
import { runtimeNamed, type InitChoices } from '../init/choices.ts';
import { NOTHING_WRITTEN } from '../init/tryout.ts';
import { onInterrupt } from '../terminal/shell.ts';
import { stopPrograms } from 'bench-machine/subprocess';

/** The files that are listed as found. */
const TELLING =
  /^(pyproject\.toml|uv\.lock|poetry\.lock|requirements.*\.txt|\.python-version|\.nvmrc|\.node-version|package\.json|pnpm-lock\.yaml|package-lock\.json|yarn\.lock|go\.mod|Cargo\.(toml|lock)|pom\.xml|(build|settings)\.gradle(\.kts)?|Gemfile|composer\.json|deno\.json|mix\.exs|Procfile)$/;

/** A parsed `bench-http init` command. */
interface InitRequest extends InitChoices {
  folder: string;
  run?: string | undefined;
  output?: string | undefined;
}

export default defineCommand({
  name: 'init',
  about:
    'Examines a project, starts its server, sends it requests, and writes the stack.json that worked. Prints its findings and its assumptions. Changes no other file; the server that it starts may.',
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
    get: repeated('<path>', text, {
      help: 'a path to request, instead of one that the server offers',
      separator: PATHS,
    }),
    header: repeated('<name: value>', header, {
      help: 'a header of every request; written to the manifest',
      separator: null,
    }),
    python: option('<version>', text, {
      help: 'the version of Python, e.g. 3.12, or its path; the version is written to the manifest',
      usually: 'that of the project, or the newest for which its lock has wheels',
    }),
    node: option('<version>', text, {
      help: 'the version of Node, e.g. 22, or its path; the version is written to the manifest',
      usually: 'that of the project',
    }),
    lock: option('<file>', text, {
      help: 'the lock file or requirements file; written to the manifest',
      usually: 'the one that Bench finds',
    }),
    with: repeated('<package>', text, {
      help: 'a package in addition to the lock; written to the manifest',
      separator: PACKAGES,
    }),
    // Node takes --env-file for itself, wherever it stands.
    dotenv: option('<file>', text, {
      help: 'a file with variables of the server; written to the manifest',
      usually: '.env.example if there is no .env',
    }),
    output: option('<file>', text, { help: 'another file in the folder', usually: 'stack.json' }),
    yes: flag({ help: 'choose the first of several possibilities, and run it, instead of asking' }),
  },
  notes:
    'Exit codes: 0 written, 1 the server does not start or answer, 2 bad usage or an\nunanswered question, 3 a toolchain is missing, 130 interrupted.',
  read: ({ dotenv: envFile, ...values }, [folder = '.']): InitRequest => ({ ...values, envFile, folder }),
  async run(choices) {
    const root = resolve(choices.folder);
    if (!isFolder(root))
      throw new BenchError('usage', `${choices.folder}: not a folder`, 'name the folder of your project');
    refuseExisting(resolve(choices.output ?? join(root, 'stack.json')));
    for (const [, value] of choices.header) refuseUnset(value, '--header');
    const found = readdirSync(root).filter((name) => TELLING.test(name));
    say('found', found.length === 0 ? 'no file of a known package manager' : found.join(', '));
    const starts = await chooseStarts(root, choices);
    const place = join(root, starts[0].folder);
    const file = resolve(choices.output ?? join(place, 'stack.json'));
    if (dirname(file) !== place) {
      throw new BenchError(
        'usage',
        `--output ${relative(process.cwd(), file)}: a manifest describes the folder that it is in`,
        `name a file in ${choices.folder}`,
      );
    }
    refuseExisting(file);
    const stopping = new AbortController();
    using _ = onInterrupt(() => {
      stopping.abort();
      stopPrograms();
    }, NOTHING_WRITTEN);
    const { manifest, start } = await tryStarts(starts, { root, file, choices, stopping });
    const { requests } = checkDraft(manifest, file);
    writeFileSync(file, `${JSON.stringify(manifest, null, 2)}\n`, { flag: 'wx' });
    const shown = relative(process.cwd(), file);
    say('wrote', shown);
    for (const [name, value] of choices.header)
      if (holdsSecret(name, value)) say('wrote', describeSecret(name, value));
    const words = shown === 'stack.json' ? '' : ` --stack ${joinWords([shown])}`;
    const { path } = runtimeNamed(choices, start.runtime);
    // The manifest names a version, which this machine may not find by itself.
    const interpreter = path === undefined ? '' : ` --${start.runtime} ${joinWords([path])}`;
    const mayUpgrade = start.runtime !== 'none' && !isBunOrDeno(start.command) && path === undefined;
    const count = requests?.draft.requests.length ?? 0;
    for (const [command, options, answers] of await questionsFor(dirname(file), {
      mayUpgrade,
      requests: count,
    }))
      say('next', `bench-http${`${command}${words}${interpreter}${options}` || ' bench'}   ${answers}`);
  },
});

function describeSecret(name: string, value: string): string {
  // A scheme such as Bearer is no secret.
  const kept = value.replace(/\S+$/, '{env:NAME}');
  return `the value of ${name} in it: to keep it out of your repository, write '${name}: ${kept}', and set NAME`;
}

/** Throws a usage error if the manifest exists. */
function refuseExisting(file: string): void {
  // A link to nothing is there, too.
  if (lstatSync(file, { throwIfNoEntry: false }) === undefined) return;
  const shown = relative(process.cwd(), file);
  throw new BenchError(
    'usage',
    `${shown} exists already, and init does not overwrite it`,
    `name another file: --output ${join(dirname(shown), 'stack-new.json')}`,
  );
}

/** The next commands and their options for a project with this many requests, and what they answer. */
async function questionsFor(
  root: string,
  { mayUpgrade, requests }: { mayUpgrade: boolean; requests: number },
): Promise<[command: string, options: string, answers: string][]> {
  const each = requests > MOST_ALONE || requests === 1 ? '' : ` for each of ${requests} requests`;
  const questions: [string, string, string][] = [['', '', 'what it costs and how fast it is']];
  const change = await findChange(root);
  if (change !== undefined)
    questions.push(['', ` --rev ${change.revisions}`, `${change.what}: usually at most 4 min${each}`]);
  if (mayUpgrade) questions.push([' upgrade', '', 'whether a newer runtime is faster']);
  return [...questions, ['', ' --rate 100', 'its latency at 100 requests per second']];
}

/** The change that a developer asks about: that of the current branch, else the last one; undefined without two commits. */
async function findChange(root: string): Promise<{ revisions: string; what: string } | undefined> {
  const read = async (...words: string[]): Promise<string | undefined> => (await tryGit(root, words))?.trim();
  const commitOf = (name: string): Promise<string | undefined> =>
    read('rev-parse', '--verify', '--quiet', `${name}^{commit}`);
  const branch = await read('branch', '--show-current');
  const here = await commitOf('HEAD');
  for (const main of ['main', 'master']) {
    if (!branch || branch === main) break;
    const there = await commitOf(main);
    if (there !== undefined && there !== here)
      return { revisions: `${main},HEAD`, what: `what the branch ${branch} changed` };
  }
  const hasTwo = (await commitOf('HEAD~1')) !== undefined;
  return hasTwo ? { revisions: 'HEAD~1,.', what: 'what your last change did' } : undefined;
}
