/** `bench-http init`: looks at a project, tries to start its server, and writes the manifest that worked. */
import { existsSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { checkManifest } from '../catalogue/manifest.ts';
import { describeStart, findStarts, type Start } from '../catalogue/apps/starts.ts';
import { joinWords } from '../catalogue/apps/words.ts';
import type { Stack } from '../catalogue/stack.ts';
import { targetsOf } from '../catalogue/stacks.ts';
import { INIT, type InitRequest } from '../cli/commands.ts';
import { BenchError } from '../errors.ts';
import { describeEnd, describeOtherPorts, launch, type Server } from '../machine/launch.ts';
import { isListening } from '../machine/ports.ts';
import { sendRequest } from '../machine/request.ts';
import { prepareAll, type Prepared } from '../prepare/prepare.ts';
import { openSession } from './session.ts';
import { createRunner, logLine, onInterrupt, print } from './shell.ts';

const POLL_MS = 20;
/** How long a server may take to listen. */
const START_SECONDS = 30;
/** A server that listens elsewhere for this long does not take the port that it is given. */
const ELSEWHERE_MS = 3000;
/** How many routes of an OpenAPI document are tried. */
const MOST_ROUTES = 20;
/** The paths that are tried if nothing names one. */
const USUAL_PATHS = ['/', '/health', '/healthz'];
/** The files that are listed as found. */
const TELLING =
  /^(pyproject\.toml|uv\.lock|poetry\.lock|requirements.*\.txt|\.python-version|package\.json|pnpm-lock\.yaml|package-lock\.json|yarn\.lock|go\.mod|Cargo\.(toml|lock)|Procfile)$/;

export const runInit = createRunner(INIT, async (asked) => {
  const root = resolve(asked.folder);
  if (!statSync(root, { throwIfNoEntry: false })?.isDirectory())
    throw new BenchError('usage', `${asked.folder}: not a folder`, 'name the folder of your project');
  const file = resolve(asked.output ?? join(root, 'stack.json'));
  refuseOutput(file, root, asked);
  const found = readdirSync(root).filter((name) => TELLING.test(name));
  say('found', found.length === 0 ? 'no file of a known package manager' : found.join(', '));
  const start = await chooseStart(root, asked);
  const draft = makeManifest(root, start, ['GET /']);
  const prepared = await prepareDraft(draft, file);
  using session = await openSession(`init ${prepared.target.id}`, { isAlone: false });
  let isStopped = false;
  using _ = onInterrupt(() => {
    isStopped = true;
  }, 'stopping: nothing was written');
  const folder = session.makeFolder('init');
  await using server = await launch({
    id: 'init-server',
    token: session.token,
    command: prepared.command,
    cwd: prepared.stack.root,
    env: prepared.env,
    files: {},
    workers: 1,
    prefix: [],
    isOfUser: true,
    time: undefined,
    folder,
  });
  await untilListening(server, prepared, () => isStopped);
  const { runtime } = prepared;
  const on = runtime === undefined ? '' : ` on ${prepared.stack.runtime} ${runtime.version}`;
  say('started', `${joinWords(start.command)}${on}, which listens on the port that it was given`);
  const paths = await choosePaths(server, asked, () => describeFailure(prepared, server));
  await server.stop();
  if (isStopped) throw new BenchError('interrupted', 'interrupted: nothing was written');
  const manifest = makeManifest(
    root,
    start,
    paths.map((path) => `GET ${path}`),
  );
  checkDraft(manifest, file);
  writeFileSync(file, `${JSON.stringify(manifest, null, 2)}\n`, { flag: 'wx' });
  const shown = relative(process.cwd(), file);
  say('wrote', shown);
  const words = shown === 'stack.json' ? '' : ` --stack ${shown}`;
  say('next', `bench-http bench${words}`);
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

function say(what: string, words: string): void {
  print(`${what.padEnd(9)}${words}\n`);
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

/** Asks on a terminal; undefined if there is none. */
async function ask(question: string): Promise<string | undefined> {
  if (!process.stdin.isTTY || !process.stderr.isTTY) return undefined;
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return (await lines.question(question)).trim();
  } finally {
    lines.close();
  }
}

function makeManifest(root: string, start: Start, requests: string[]): object {
  const { command, env, build, language, framework, runtime } = start;
  const name = basename(root)
    .toLowerCase()
    .replaceAll(/[^a-z0-9-]+/g, '-')
    .replaceAll(/^-+|-+$/g, '');
  return {
    name: name === '' ? 'app' : name,
    language,
    framework,
    class: 'unknown',
    runtime,
    ...(build.length === 0 ? {} : { build }),
    default: 'app',
    variants: { app: { command, ...(Object.keys(env).length === 0 ? {} : { env }) } },
    requests,
  };
}

function checkDraft(manifest: object, file: string): Stack {
  const shown = relative(process.cwd(), file);
  return checkManifest({ shown, value: manifest, at: () => shown }, dirname(file));
}

async function prepareDraft(manifest: object, file: string): Promise<Prepared> {
  const stack = checkDraft(manifest, file);
  const { prepared, missing } = await prepareAll(targetsOf(stack), [stack], logLine);
  const [ready] = prepared;
  if (ready !== undefined) return ready;
  throw new BenchError('toolchain', missing[0]?.reason ?? 'the project cannot be prepared', missing[0]?.hint);
}

/** Waits until the server listens on its port. Throws a trial error with its last lines if it does not. */
async function untilListening(server: Server, prepared: Prepared, isStopped: () => boolean): Promise<void> {
  const deadline = performance.now() + START_SECONDS * 1000;
  let elsewhereSince: number | undefined;
  const fail = (what: string): never => {
    throw new BenchError(
      'trial',
      [`the server does not start: ${what}`, ...describeFailure(prepared, server)].join('\n'),
      'correct the command with --run; {port} in it, or PORT in its environment, is the port to listen on',
    );
  };
  while (!(await isListening(server.host, server.port))) {
    if (isStopped()) throw new BenchError('interrupted', 'interrupted: nothing was written');
    const end = describeEnd(server);
    if (end !== undefined) fail(end);
    const elsewhere = describeOtherPorts(server);
    elsewhereSince = elsewhere === undefined ? undefined : (elsewhereSince ?? performance.now());
    if (elsewhere !== undefined && performance.now() - (elsewhereSince ?? 0) > ELSEWHERE_MS) fail(elsewhere);
    if (performance.now() > deadline) fail(`nothing listens on port ${server.port} after ${START_SECONDS} s`);
    await sleep(POLL_MS);
  }
}

function describeFailure({ variant }: Prepared, server: Server): string[] {
  const lines = server.logTail().filter((line) => line !== '');
  return [
    `  command: ${joinWords(variant.command)}`,
    ...(lines.length === 0
      ? ['  it printed nothing']
      : ['  its last lines:', ...lines.map((line) => `  | ${line}`)]),
  ];
}

/** Returns the paths to measure, each of which was answered with 2xx. Throws if there is none. */
async function choosePaths(
  server: Server,
  { get }: InitRequest,
  describe: () => string[],
): Promise<string[]> {
  if (get.length > 0) {
    for (const path of get) await requireAnswer(server, path, describe);
    return get;
  }
  const routes = await readRoutes(server);
  const tried: string[] = [];
  for (const path of [...routes, ...USUAL_PATHS]) {
    const answer = await look(server, path);
    if (answer.isRight) {
      say('asked', `GET ${path}: ${answer.words}`);
      say('assumed', `GET ${path}: ${whyOf(path, routes)}`);
      return [path];
    }
    tried.push(`${path} ${answer.words}`);
  }
  const typed = await ask('Which path should be asked, e.g. /orders?limit=20? ');
  if (typed !== undefined && typed !== '') {
    await requireAnswer(server, typed, describe);
    return [typed];
  }
  throw new BenchError(
    'usage',
    `no path is known that the server answers with 2xx: ${tried.join(', ')}`,
    "name one: --get '/orders?limit=20'",
  );
}

function whyOf(path: string, routes: string[]): string {
  if (!routes.includes(path)) return 'it is a usual path, and nothing names another; --get names yours';
  const others = routes.length - 1;
  return `a route of /openapi.json without parameters${others === 0 ? '' : `; ${others} more are not measured, --get names them`}`;
}

async function requireAnswer(server: Server, path: string, describe: () => string[]): Promise<void> {
  const { isRight, words } = await look(server, path);
  if (!isRight) {
    throw new BenchError(
      'trial',
      [`GET ${path}: ${words}`, ...describe()].join('\n'),
      'name a path that answers with 2xx: --get',
    );
  }
  say('asked', `GET ${path}: ${words}`);
}

async function look(
  server: Server,
  path: string,
): Promise<{ isRight: boolean; words: string; body: string }> {
  try {
    const { status, contentType, body } = await sendRequest(server, { method: 'GET', path, headers: {} });
    const kind = (contentType.split(';')[0] ?? '') || 'no content type';
    return {
      isRight: status >= 200 && status < 300,
      words: `status ${status}, ${kind}, ${body.length.toLocaleString('en-US')} bytes`,
      body: body.toString(),
    };
  } catch (error) {
    return { isRight: false, words: (error as Error).message, body: '' };
  }
}

/** The GET routes without parameters of the OpenAPI document that the server offers; empty if it offers none. */
async function readRoutes(server: Server): Promise<string[]> {
  const { isRight, body } = await look(server, '/openapi.json');
  if (!isRight) return [];
  try {
    const { paths = {} } = JSON.parse(body) as { paths?: Record<string, Record<string, unknown>> };
    return Object.entries(paths)
      .filter(([path, one]) => path.startsWith('/') && !path.includes('{') && one['get'] !== undefined)
      .map(([path]) => path)
      .slice(0, MOST_ROUTES);
  } catch {
    return [];
  }
}
