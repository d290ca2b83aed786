/** The first start of a project's server: whether it listens, and what it answers. */
import { fill } from 'bench-targets/catalogue/workloads/requests/template';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Need } from 'bench-targets/catalogue/apps/needs';
import type { Start } from 'bench-targets/catalogue/apps/starts';
import { withPort } from 'bench-targets/catalogue/apps/variables';
import { joinWords } from 'bench-targets/catalogue/apps/words';
import { readRuntime } from 'bench-targets/catalogue/runtimes';
import { canMovePorts } from 'bench-targets/catalogue/ports';
import { targetsOf } from 'bench-targets/catalogue/stacks';
import { sendRequest } from 'bench-targets/catalogue/workloads/send';
import type { Draw } from 'bench-targets/catalogue/workloads/workload';
import { prepareAll, type Prepared } from 'bench-targets/prepare/prepare';
import { BenchError } from 'bench-model/errors';
import { present } from 'bench-model/options';
import { describeEnd, describeTail, launch, listensElsewhere, type Server } from 'bench-machine/launch';
import { isListening } from 'bench-machine/ports';
import { OWN_TLS, seeProtocol } from 'bench-machine/tls';
import { cureFor, TAKEN_PORT } from '../conduct/cures.ts';
import { describeMade } from '../conduct/made.ts';
import { openSession } from '../conduct/session.ts';
import { FaultError, seeElsewhere, type Seen } from '../measure/fault.ts';
import { findDeclared } from '../services/declared/companion.ts';
import { logLine, onInterrupt } from '../terminal/shell.ts';
import type { InitChoices } from './choices.ts';
import { checkDraft, makeManifest } from './manifest.ts';
import { chooseRequests } from './requests.ts';
import { say } from './say.ts';

const POLL_MS = 20;
/** The longest time until a server listens, the time between two lines that say so, and the longest usual one. */
const LISTENS_SECONDS = { most: 120, told: 10, usual: 10 };
/** A server that only listens on a Unix socket for this long is not about to listen on its port. */
const SOCKET_MS = 10_000;
/** A server that listens elsewhere for this long does not take the port that it is given. */
const ELSEWHERE_MS = 3000;
export const NOTHING_WRITTEN = 'stopping: nothing was written';

/** A server that does not start: another command may, and if it ended, another runtime. */
export class NotStartedError extends BenchError {
  isEnded = false;
}

/** A project that cannot be prepared, whatever is beside its server. */
export class NotPreparedError extends BenchError {}

/** The place where a start is tried, and what was asked for it. */
interface Tryout {
  root: string;
  /** The manifest to write. */
  file: string;
  choices: InitChoices;
  /** A file with variables of the server. */
  envFile?: string;
  /** The port on which it always listens, if it does not take the one that it is given. */
  port?: number;
  /** True if Bench lets it listen on another port instead. */
  movesPort?: boolean;
  /** True if its command got an option for the port, which it may not know. */
  isAsked?: boolean;
  /** The version of its runtime, if it is not the one that the project asks for. */
  version?: string;
  /** The path of its interpreter, if it was given. */
  interpreter?: string;
  /** Aborted by an interruption, which ends all tries. */
  stopping: AbortController;
}

/** Throws if the user has interrupted `init`. */
export function refuseStopped({ signal }: AbortController): void {
  if (signal.aborted) throw new BenchError('interrupted', 'interrupted: nothing was written');
}

/** Starts the server with these services, and returns the manifest whose requests it answered. Throws if it does not start. */
export async function tryStart(start: Start, needs: readonly Need[], tryout: Tryout): Promise<object> {
  const { root, file, choices, movesPort, stopping } = tryout;
  const port = movesPort === true ? undefined : tryout.port;
  const known = { ...choices, ...tryout, needs };
  const draft = makeManifest(root, start, { ...known, requests: ['GET /'] });
  const prepared = await prepareDraft(draft, file, tryout.interpreter).finally(() => refuseStopped(stopping));
  using session = await openSession(`init ${prepared.target.id}`, { isAlone: false, words: NOTHING_WRITTEN });
  using _ = onInterrupt(() => stopping.abort(), NOTHING_WRITTEN);
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
  stopping.signal.addEventListener('abort', () => services?.interrupt?.());
  const trial = { id: 'init-services', target: prepared.target, prepared };
  await using beside = await services?.begin(NO_DRAW, trial);
  await using server = await launch({
    id: 'init-server',
    token,
    command: prepared.command,
    cwd: prepared.stack.root,
    // Some programs wrap their errors at the width of a terminal.
    env: { COLUMNS: '500', ...prepared.env, ...beside?.env },
    files: {},
    workers: 1,
    prefix: [],
    isOfUser: true,
    time: undefined,
    ...present({ port }),
    folder,
    stopped: stopping.signal,
  });
  const began = performance.now();
  const elsewhere = await untilListening(server, prepared, {
    mayMove: tryout.port === undefined && tryout.isAsked !== true,
    stopping,
  });
  if (elsewhere !== undefined) {
    await server.stop();
    const told = withPort(start, root, elsewhere);
    if (told !== undefined) {
      say('assumed', told.why);
      return tryStart(told.start, needs, tryout);
    }
    const tryWith = (other: Start, changed: Tryout): Promise<object | undefined> =>
      tryStart(other, needs, changed).catch((error: unknown) => {
        refuseStopped(stopping);
        if (!(error instanceof NotStartedError || error instanceof NotPreparedError)) throw error;
        return undefined;
      });
    const asked = withPortOption(start);
    const manifest = asked && (await tryWith(asked, { ...tryout, isAsked: true }));
    if (manifest !== undefined) return manifest;
    say('found', `it listens on port ${elsewhere}, whatever PORT says`);
    // Go binds without the C library.
    if (start.language !== 'go' && canMovePorts()) {
      const moved = await tryWith(start, { ...tryout, port: elsewhere, movesPort: true });
      if (moved !== undefined) return moved;
    }
    say('assumed', 'its targets are measured one at a time');
    return tryStart(start, needs, { ...tryout, port: elsewhere });
  }
  const listensSeconds = (performance.now() - began) / 1000;
  const startTimeout =
    listensSeconds > LISTENS_SECONDS.usual ? 10 * Math.ceil((3 * listensSeconds) / 10) : undefined;
  const made = describeMade(prepared);
  say(made.startsWith('sources') ? 'found' : 'made', made);
  if (start.setup !== undefined) say('assumed', `${joinWords(start.setup)}, before each trial`);
  const names = needs.map(({ name }) => name).join(' and ');
  const withThem = names === '' ? '' : ` with ${names}`;
  const where = port === undefined ? 'the port that it was given' : `port ${port}`;
  const instead = movesPort === true ? `, instead of ${tryout.port}` : '';
  say('started', `${joinWords(start.command)}${withThem}, which listens on ${where}${instead}`);
  const protocol = await seeRefused(server);
  if (protocol === 'tls') {
    server.tls = OWN_TLS;
    say('found', 'it speaks TLS: "scheme" is "https"');
  } else if (protocol === 'http2') {
    throw new BenchError(
      'trial',
      'the server speaks HTTP/2 without TLS, and not HTTP/1.1',
      cureFor({ kind: 'http2' }, { command: '--run', words: start.command }),
    );
  }
  const scheme = server.tls === undefined ? undefined : 'https';
  const requests = await chooseRequests(choices.get, {
    server,
    headers: Object.fromEntries(choices.header.map(([name, value]) => [name, fill(value, {}, 'header')])),
    root,
    describe: () => describeFailure(prepared, server),
  }).catch((error: unknown) => {
    refuseStopped(stopping);
    if (!(error instanceof FaultError)) throw error;
    const { fault, message } = error;
    const text = fault.kind === 'ended' ? `${fault.end}, after it listened` : message;
    throw describeNotStarted(prepared, server, { fault, text });
  });
  await server.stop();
  refuseStopped(stopping);
  return makeManifest(root, start, { ...known, ...present({ scheme, startTimeout }), requests });
}

/** Returns the start with the usual option for a port; undefined if its command names one. Many programs take it. */
function withPortOption(start: Start): Start | undefined {
  if (start.command.some((word) => word.includes('{port}'))) return undefined;
  return { ...start, command: [...start.command, '--port', '{port}'] };
}

/** Returns what a server speaks that refuses plain HTTP/1.1; undefined if that is not known. */
async function seeRefused(server: Server): ReturnType<typeof seeProtocol> {
  const plain = await sendRequest(server, { method: 'GET', path: '/', headers: {} }).catch(() => undefined);
  return plain === undefined || plain.status === 400 ? seeProtocol(server.host, server.port) : undefined;
}

/** Services take no part in the requests. */
const NO_DRAW: Draw = { requests: [], files: {}, fixedBody: false, check: () => undefined };

async function prepareDraft(
  manifest: object,
  file: string,
  interpreter: string | undefined,
): Promise<Prepared> {
  const stack = checkDraft(manifest, file);
  const targets = targetsOf(stack);
  const onIt =
    interpreter === undefined
      ? targets
      : targets.map((target) => ({ ...target, runtime: readRuntime(stack.runtime, interpreter) }));
  const { prepared, missing } = await prepareAll(onIt, [stack], logLine);
  const [ready] = prepared;
  if (ready !== undefined) return ready;
  throw new NotPreparedError(
    'toolchain',
    missing[0]?.reason ?? 'the project cannot be prepared',
    missing[0]?.hint,
  );
}

/**
 * Waits until the server listens on its port, or returns another one on which it always listens. Throws a trial error with its
 * last lines if it does neither.
 */
async function untilListening(
  server: Server,
  prepared: Prepared,
  { mayMove, stopping }: { mayMove: boolean; stopping: AbortController },
): Promise<number | undefined> {
  const { most, told } = LISTENS_SECONDS;
  const began = performance.now();
  let toldSeconds = 0;
  let elsewhereSince: number | undefined;
  const fail = (seen: Seen): never => {
    throw describeNotStarted(prepared, server, seen);
  };
  while (!(await isListening(server.host, server.port))) {
    refuseStopped(stopping);
    const end = describeEnd(server);
    if (end !== undefined) {
      const taken = mayMove ? takenPort(server) : undefined;
      return taken ?? fail({ fault: { kind: 'ended', end }, text: end });
    }
    const seen = seeElsewhere(server);
    elsewhereSince = seen === undefined ? undefined : (elsewhereSince ?? performance.now());
    // Some servers listen on a Unix socket for their control before they listen on their port.
    const longest = seen?.fault.kind === 'unix-socket' ? SOCKET_MS : ELSEWHERE_MS;
    if (seen !== undefined && performance.now() - (elsewhereSince ?? 0) > longest)
      return (mayMove ? constantPort(server) : undefined) ?? fail(seen);
    const seconds = (performance.now() - began) / 1000;
    if (seconds > most)
      fail({
        fault: { kind: 'not-listening' },
        text: `nothing listens on port ${server.port} after ${most} s`,
      });
    if (seconds > toldSeconds + told) {
      toldSeconds += told;
      logLine(`waiting until it listens: ${toldSeconds} s of ${most} s`);
    }
    await sleep(POLL_MS);
  }
  return undefined;
}

/** The port that a server has named when it ended because another program listens there; undefined if it is the one that it was given. */
function takenPort(server: Server): number | undefined {
  const line = server.logTail().find((one) => TAKEN_PORT.test(one)) ?? '';
  const port = Number([...line.matchAll(/(?::|, |\bport )(\d{2,5})\b/g)].at(-1)?.[1]);
  return port > 0 && port !== server.port ? port : undefined;
}

/** The only port that a server listens on, if requests to its address reach it there. */
function constantPort(server: Server): number | undefined {
  const [first, ...others] = listensElsewhere(server);
  const isReached = first !== undefined && [server.host, '0.0.0.0', '::'].includes(first.address);
  return isReached && others.every(({ port }) => port === first.port) ? first.port : undefined;
}

function describeNotStarted(prepared: Prepared, server: Server, { fault, text }: Seen): NotStartedError {
  const isEnded = fault.kind === 'ended';
  const cure = cureFor(fault, { command: '--run', words: prepared.variant.command });
  const error = new NotStartedError(
    'trial',
    [`the server does not start: ${text}`, ...describeFailure(prepared, server)].join('\n'),
    cure,
  );
  return Object.assign(error, { isEnded });
}

function describeFailure({ variant }: Prepared, server: Server): string[] {
  return [`  command: ${joinWords(variant.command)}`, ...describeTail(server.logTail(), '  ')];
}
