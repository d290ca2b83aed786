/** One try of a draft: its server is prepared and started, answers, and is stopped. */
import { describeTail, launch, listensElsewhere, type Server } from 'bench-machine/launch';
import { clientsOf } from 'bench-machine/procfs';
import { OWN_TLS } from 'bench-machine/tls';
import { BenchError } from 'bench-model/errors';
import { present } from 'bench-model/options';
import type { Need } from 'bench-targets/catalogue/apps/needs';
import { joinWords } from 'bench-targets/catalogue/projects/words';
import { targetsOf } from 'bench-targets/catalogue/stacks';
import { fill } from 'bench-targets/catalogue/workloads/requests/template';
import type { Draw } from 'bench-targets/catalogue/workloads/workload';
import { prepareAll, type Prepared } from 'bench-targets/prepare/prepare';
import { cureFor, TAKEN_PORT } from '../conduct/cures.ts';
import { describeMade } from '../conduct/made.ts';
import { openSession } from '../conduct/session.ts';
import { FaultError } from '../measure/fault.ts';
import { awaitRightAnswer } from '../measure/verify.ts';
import { findDeclared } from '../services/declared/companion.ts';
import { logLine, onInterrupt } from '../terminal/shell.ts';
import { INTERRUPTED, say } from './asker.ts';
import { checkDraft, makeManifest, type Draft, type Learned } from './draft.ts';
import { toWritten, type Asking, type Offer } from './requests.ts';

/** The longest time until the first answer, and the longest usual one. */
const STARTS_SECONDS = { most: 60, usual: 10 };
export const NOTHING_WRITTEN = 'stopping: nothing was written';

/** What was seen of a server whose try failed. */
interface Seen {
  /** The last lines of its log. */
  log: readonly string[];
  /** The ports that it has taken, or could not take, instead of its own. */
  ports: readonly number[];
  /** True if it has answered before. */
  hasStarted: boolean;
}

/** A try that failed. */
export class TryError extends BenchError {
  seen: Seen = { log: [], ports: [], hasStarted: false };
}

/** Throws if the user has interrupted `init`. */
export function refuseStopped({ signal }: AbortController): void {
  if (signal.aborted) throw INTERRUPTED;
}

/** A draft that works: its manifest, its requests, and the services that nothing connected to. */
export interface Worked {
  manifest: object;
  requests: Offer[];
  unused: Need[];
}

/** Starts the server of a draft, and asks it for the requests that `choose` returns while it runs. Throws if it does not start. */
export async function tryDraft(
  draft: Draft,
  { file, stopping }: { file: string; stopping: AbortController },
  choose: (asking: Asking) => Promise<Offer[]>,
): Promise<Worked> {
  const prepared = await prepareDraft(draft, file).finally(() => refuseStopped(stopping));
  using session = await openSession(`init ${prepared.target.id}`, { isAlone: false, words: NOTHING_WRITTEN });
  using _ = onInterrupt(() => stopping.abort(), NOTHING_WRITTEN);
  const { token } = session;
  const folder = session.makeFolder('init');
  const recordLeftoverServer = (server: string | undefined): void => session.recordLeftoverServer(server);
  const declared = await findDeclared([prepared.stack]);
  await using services = await declared?.start({ token, folder, placed: {}, recordLeftoverServer });
  stopping.signal.addEventListener('abort', () => services?.interrupt?.());
  await using beside = await services?.begin(ANY, { id: 'init-services', target: prepared.target, prepared });
  const findUnused = watchServices(draft, beside?.env);
  const port = draft.movesPort === true ? undefined : draft.port;
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
  try {
    const began = performance.now();
    await untilAnswering(server);
    const seconds = (performance.now() - began) / 1000;
    say('made', describeMade(prepared));
    const where = port === undefined ? 'the port that it was given' : `port ${port}`;
    const instead = draft.movesPort === true ? `, instead of ${draft.port}` : '';
    say('started', `in ${seconds.toFixed(1)} s: ${joinWords(draft.way.command)}, on ${where}${instead}`);
    const all = Object.entries(draft.headers ?? {});
    const headers = Object.fromEntries(all.map(([name, value]) => [name, fill(value, {}, 'header')]));
    const asking = { server, headers, root: prepared.stack.root };
    const requests = await choose(asking);
    const learned: Learned = {
      requests: await toWritten(requests, asking),
      ...(seconds > STARTS_SECONDS.usual && { startTimeoutSeconds: 10 * Math.ceil((3 * seconds) / 10) }),
      ...(server.tls && { scheme: 'https' }),
    };
    return { manifest: makeManifest(draft, learned, file), requests, unused: findUnused() };
  } catch (error) {
    refuseStopped(stopping);
    throw error instanceof BenchError ? explain(error, server, draft) : error;
  }
}

/** Returns a function that tells to which services nothing has connected since. A setup command has used the database before. */
function watchServices({ needs, way }: Draft, env: Readonly<Record<string, string>> = {}): () => Need[] {
  if (process.platform !== 'linux') return () => [];
  const watched = needs.flatMap((need) => {
    const values = Object.keys(need.env).map((name) => env[name] ?? '');
    const port = Number(/(?:^|:)(\d{4,5})(?=[/)?]|$)/m.exec(values.join('\n'))?.[1]);
    const isUsed = way.setup !== undefined && 'use' in need.service;
    return isUsed || Number.isNaN(port) ? [] : { need, port, before: clientsOf(port) };
  });
  const isUnused = ({ port, before }: (typeof watched)[number]): boolean =>
    [...clientsOf(port)].every((client) => before.has(client));
  return () => watched.filter(isUnused).map(({ need }) => need);
}

/** Any answer counts, but that of a server that calls itself unavailable. */
const ANY: Draw = {
  requests: [{ method: 'GET', path: '/', headers: {} }],
  files: {},
  fixedBody: false,
  check: ({ status }) => (status === 503 ? 'status 503' : undefined),
};

/** Waits for the first answer. Sets `tls` of a server that demands it. Throws if nothing listens, or it speaks no HTTP/1.1. */
async function untilAnswering(server: Server): Promise<void> {
  logLine('starting …');
  // A command may ignore the port in it; but the first other port that opens may be for metrics.
  using _ = setTimeout(() => Object.assign(server, { mayIgnorePort: true }), STARTS_SECONDS.usual * 500);
  try {
    await awaitRightAnswer(server, ANY, STARTS_SECONDS.most);
  } catch (error) {
    const kind = error instanceof FaultError ? error.fault.kind : undefined;
    if (kind === 'tls') {
      server.tls = OWN_TLS;
      say('found', 'it speaks TLS: "scheme" is "https"');
    } else if (kind !== 'wrong-answer' && kind !== 'silent') throw error;
  }
}

async function prepareDraft(draft: Draft, file: string): Promise<Prepared> {
  const stack = checkDraft(makeManifest(draft, { requests: ['GET /'] }, file), file);
  const { prepared, missing } = await prepareAll(targetsOf(stack), [stack], logLine);
  const [ready] = prepared;
  if (ready !== undefined) return ready;
  const [first] = missing;
  throw new BenchError('toolchain', first?.reason ?? 'the project cannot be prepared', first?.hint);
}

/** Returns the ports that a server has taken, or could not take, instead of its own. */
function portsOf(server: Server, log: readonly string[]): number[] {
  const line = log.find((one) => TAKEN_PORT.test(one)) ?? '';
  const taken = [...line.matchAll(/(?::|, |\bport )(\d{2,5})\b/g)].map(([, port]) => Number(port)).slice(-1);
  const reached = listensElsewhere(server).filter(({ address }) =>
    [server.host, '0.0.0.0', '::'].includes(address),
  );
  return [...new Set([...reached.map(({ port }) => port), ...taken])].filter((port) => port !== server.port);
}

/** The frames of a trace, in Python with the line of their source. */
const FRAME = /^\s+at |^\s*(?:File ".*", line \d+|\^+\s*$|[~^]+\s*$)/;

/** Returns the lines of a log without the frames of its traces, which hide the error. */
export function foldTrace(log: readonly string[]): string[] {
  const isCode = (index: number): boolean => /^\s*File ".*", line \d+/.test(log[index - 1] ?? '');
  return log.filter((line, index) => !FRAME.test(line) && !isCode(index));
}

/** Returns an error with the command of a server, and with its last lines if they may tell why. */
function explain(error: BenchError, server: Server, { way }: Draft): TryError {
  const log = server.logTail();
  const isFault = error instanceof FaultError;
  const lines = [
    isFault ? `the server does not start: ${error.message}` : error.message,
    ...(isFault ? [`  command: ${joinWords(way.command)}`] : []),
    ...(isFault || /status 5\d\d/.test(error.message) ? describeTail(foldTrace(log), '  ') : []),
  ];
  const hint = isFault ? cureFor(error.fault, { command: '--run', words: way.command }) : error.hint;
  const seen: Seen = { log, ports: portsOf(server, log), hasStarted: !isFault };
  return Object.assign(new TryError(error.code, lines.join('\n'), hint), { seen });
}
