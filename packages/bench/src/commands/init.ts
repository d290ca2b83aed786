/** `bench-http init`: looks at a project, tries to start its server, and writes the manifest that worked. */
import { defineCommand, flag, option, repeated } from '../cli/command.ts';
import { seconds, text } from '../cli/values.ts';
import { existsSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { nameOf } from 'bench-targets/catalogue/apps/app';
import { checkManifest } from 'bench-targets/catalogue/manifest';
import { describeStart, findStarts, type Start } from 'bench-targets/catalogue/apps/starts';
import { findNeeds, type Need } from 'bench-targets/catalogue/apps/needs';
import { findPinned } from 'bench-targets/catalogue/apps/pinned';
import { joinWords } from 'bench-targets/catalogue/apps/words';
import type { Stack } from 'bench-model/stack';
import type { AskedRequest } from 'bench-model/requests';
import { readOpenapi } from 'bench-targets/catalogue/workloads/requests/openapi';
import { targetsOf } from 'bench-targets/catalogue/stacks';
import { BenchError } from 'bench-model/errors';
import { describeElsewhere, describeEnd, launch, type Server } from 'bench-machine/launch';
import { isListening } from 'bench-machine/ports';
import { sendRequest } from 'bench-targets/catalogue/workloads/send';
import { START_SECONDS } from 'bench-model/options';
import { prepareAll, type Prepared } from 'bench-targets/prepare/prepare';
import { findDeclared } from '../services/declared/companion.ts';
import type { Draw } from 'bench-targets/catalogue/workloads/workload';
import { countOf } from 'bench-report/format';
import { openSession } from '../conduct/session.ts';
import { logLine, onInterrupt, print } from '../terminal/shell.ts';

const POLL_MS = 20;
/** A server that listens elsewhere for this long does not take the port that it is given. */
const ELSEWHERE_MS = 3000;
/** The paths at which frameworks serve their OpenAPI document. */
const DOCUMENTS = ['/openapi.json', '/openapi.yaml', '/swagger.json', '/v3/api-docs'];
/** The most routes of an OpenAPI document that are tried. */
const MOST_ROUTES = 20;
/** The paths that are tried if nothing names one. */
const USUAL_PATHS = ['/', '/health', '/healthz'];
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

const NOTHING_WRITTEN = 'stopping: nothing was written';

/** Starts the server with these services, and returns the manifest whose requests it answered. Throws if it does not start. */
async function tryStart(
  start: Start,
  needs: readonly Need[],
  { root, file, asked }: { root: string; file: string; asked: InitRequest },
): Promise<{ manifest: object }> {
  const draft = makeManifest(root, start, { ...asked, needs, requests: ['GET /'] });
  const prepared = await prepareDraft(draft, file);
  using session = await openSession(`init ${prepared.target.id}`, { isAlone: false, words: NOTHING_WRITTEN });
  let isStopped = false;
  using _ = onInterrupt(() => {
    isStopped = true;
  }, NOTHING_WRITTEN);
  const { token } = session;
  const folder = session.makeFolder('init');
  const declared = await findDeclared([prepared.stack]);
  const context = {
    token,
    folder,
    placed: {},
    recordLeftoverServer: (server: string | undefined) => session.recordLeftoverServer(server),
  };
  await using services = await declared?.start(context);
  const trial = { id: 'init-services', target: prepared.target, prepared };
  await using beside = await services?.begin(NO_DRAW, trial);
  await using server = await launch({
    id: 'init-server',
    token,
    command: prepared.command,
    cwd: prepared.stack.root,
    env: { ...prepared.env, ...beside?.env },
    files: {},
    workers: 1,
    prefix: [],
    isOfUser: true,
    time: undefined,
    folder,
  });
  await untilListening(server, prepared, {
    limit: asked.startTimeout ?? START_SECONDS,
    isStopped: () => isStopped,
  });
  const { runtime } = prepared;
  const pinned = start.runtime === 'none' ? undefined : findPinned(root, start.runtime);
  if (pinned !== undefined) say('assumed', `${start.runtime} ${pinned.version}, by ${pinned.why}`);
  const on = runtime === undefined ? '' : ` on ${prepared.stack.runtime} ${runtime.version}`;
  const names = needs.map(({ name }) => name).join(' and ');
  const withThem = names === '' ? '' : ` with ${names}`;
  say('started', `${joinWords(start.command)}${on}${withThem}, which listens on the port that it was given`);
  const requests = await chooseRequests(server, asked, () => describeFailure(prepared, server));
  await server.stop();
  if (isStopped) throw new BenchError('interrupted', 'interrupted: nothing was written');
  return { manifest: makeManifest(root, start, { ...asked, needs, requests }) };
}

/** Services take no part in the requests. */
const NO_DRAW: Draw = { requests: [], files: {}, fixedBody: false, check: () => undefined };

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

function makeManifest(
  root: string,
  start: Start,
  {
    requests,
    startTimeout,
    needs,
  }: Pick<InitRequest, 'startTimeout'> & { requests: Written[]; needs: readonly Need[] },
): object {
  const addresses = needs.map(({ variable, name }) => [variable, `{${name}.url}`] as const);
  const services = Object.fromEntries(needs.map((need) => [need.name, need.service]));
  const env = { ...start.env, ...Object.fromEntries(addresses) };
  const { command, build, language, framework, runtime } = start;
  return {
    name: nameOf(root),
    language,
    framework,
    class: 'unknown',
    runtime,
    ...(build.length === 0 ? {} : { build }),
    ...(startTimeout === undefined ? {} : { startTimeoutSeconds: startTimeout }),
    default: 'app',
    variants: { app: { command, ...(Object.keys(env).length === 0 ? {} : { env }) } },
    ...(needs.length === 0 ? {} : { services }),
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
async function untilListening(
  server: Server,
  prepared: Prepared,
  { limit, isStopped }: { limit: number; isStopped: () => boolean },
): Promise<void> {
  const deadline = performance.now() + limit * 1000;
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
    const elsewhere = describeElsewhere(server);
    elsewhereSince = elsewhere === undefined ? undefined : (elsewhereSince ?? performance.now());
    if (elsewhere !== undefined && performance.now() - (elsewhereSince ?? 0) > ELSEWHERE_MS) fail(elsewhere);
    if (performance.now() > deadline) fail(`nothing listens on port ${server.port} after ${limit} s`);
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

/** A request as a manifest writes it. */
type Written = string | { request: string; headers: Record<string, string> };

/** Returns the requests to measure, each of which was answered with 2xx. Throws if there is none. */
async function chooseRequests(
  server: Server,
  { get }: InitRequest,
  describe: () => string[],
): Promise<Written[]> {
  if (get.length > 0) {
    for (const path of get) await requireAnswer(server, path, describe);
    return get.map((path) => `GET ${path}`);
  }
  const { document, routes } = await readRoutes(server);
  const tried: string[] = [];
  const right: AskedRequest[] = [];
  for (const route of routes) {
    const { isRight, needsLogin, words } = await look(server, route);
    say(
      isRight ? 'asked' : 'left out',
      `GET ${route.path}: ${words}${needsLogin ? '; it needs a login' : ''}`,
    );
    if (isRight) right.push(route);
    else tried.push(`${route.path} ${words}`);
  }
  if (right.length > 0) {
    say('assumed', `${countOf(right.length, 'request')}, from ${document}; --get names others`);
    return right.map(({ path, headers }) =>
      Object.keys(headers).length === 0 ? `GET ${path}` : { request: `GET ${path}`, headers },
    );
  }
  for (const path of USUAL_PATHS) {
    const { isRight, words } = await look(server, { path });
    if (isRight) {
      say('asked', `GET ${path}: ${words}`);
      say('assumed', `GET ${path}: it is a usual path, and nothing names another; --get names yours`);
      return [`GET ${path}`];
    }
    tried.push(`${path} ${words}`);
  }
  const typed = await ask('Which path should be asked, e.g. /orders?limit=20? ');
  if (typed !== undefined && typed !== '') {
    await requireAnswer(server, typed, describe);
    return [`GET ${typed}`];
  }
  throw new BenchError(
    'usage',
    `no path is known that the server answers with 2xx: ${tried.join(', ')}`,
    "name one: --get '/orders?limit=20'",
  );
}

async function requireAnswer(server: Server, path: string, describe: () => string[]): Promise<void> {
  const { isRight, needsLogin, words } = await look(server, { path });
  if (!isRight) {
    throw new BenchError(
      'trial',
      [`GET ${path}: ${words}`, ...describe()].join('\n'),
      needsLogin
        ? 'begin with a path that needs no login: --get; then add `login` and the path to stack.json'
        : 'name a path that answers with 2xx: --get',
    );
  }
  say('asked', `GET ${path}: ${words}`);
}

async function look(
  server: Server,
  { path, headers = {} }: { path: string; headers?: Record<string, string> },
): Promise<{ isRight: boolean; needsLogin: boolean; words: string; body: string }> {
  try {
    const { status, contentType, body } = await sendRequest(server, { method: 'GET', path, headers });
    const kind = (contentType.split(';')[0] ?? '') || 'no content type';
    return {
      isRight: status >= 200 && status < 300,
      needsLogin: status === 401 || status === 403,
      words: `status ${status}, ${kind}, ${body.length.toLocaleString('en-US')} bytes`,
      body: body.toString(),
    };
  } catch (error) {
    return { isRight: false, needsLogin: false, words: (error as Error).message, body: '' };
  }
}

/** The requests that the OpenAPI document of the server allows without knowing it; none if it offers no document. */
async function readRoutes(server: Server): Promise<{ document: string; routes: AskedRequest[] }> {
  for (const document of DOCUMENTS) {
    const { isRight, body } = await look(server, { path: document });
    if (!isRight) continue;
    try {
      const { requests, leftOut } = readOpenapi(body, document);
      for (const { route, reason } of leftOut.slice(0, MOST_ROUTES)) say('left out', `${route}: ${reason}`);
      return { document, routes: requests.slice(0, MOST_ROUTES) };
    } catch (error) {
      if (!(error instanceof BenchError)) throw error;
      say('found', error.message);
    }
  }
  return { document: '', routes: [] };
}
