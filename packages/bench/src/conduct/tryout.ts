/** The first start of a user's servers, before anything is measured. Problems are reported at once. */
import { showPath } from 'bench-machine/files';
import { UnansweredError } from 'bench-targets/catalogue/workloads/send';
import { workloadOf } from 'bench-targets/catalogue/workloads/index';
import type { Draw } from 'bench-targets/catalogue/workloads/workload';
import { joinWords } from 'bench-targets/catalogue/projects/words';
import { BenchError, TrialError } from 'bench-model/errors';
import { present } from 'bench-model/options';
import { describeTail } from 'bench-machine/launch';
import { FaultError, seeElsewhere, type Fault } from '../measure/fault.ts';
import { contextOf } from '../measure/launcher.ts';
import type { TrialContext } from '../measure/effects.ts';
import { ServerLife, type Awaited } from '../measure/life.ts';
import type { RunEffects } from '../measure/run.ts';
import type { Expected } from '../measure/verify.ts';
import type { Prepared } from 'bench-targets/prepare/prepare';
import type { Plan, PlannedTrial } from 'bench-model/plan';
import { areSlow, type Found } from '../plan/plan.ts';
import type { Trial } from 'bench-model/record';
import { mean } from 'bench-statistics/numbers';
import { CompanionError } from '../services/companion.ts';
import { startCompanions } from '../services/index.ts';
import { cureFor, type Named } from './cures.ts';
import { createEffects } from './effects.ts';
import type { Job } from './job.ts';
import type { ReadyRun } from './prepare.ts';
import { NOTHING_YET, type Voice } from '../terminal/voice.ts';

/** The interval between lines about a server that does not answer yet. */
const WAITING_SECONDS = 3;

/** A server is verified this often at most before it counts as slow. */
const MOST_TIMES = 5;

/**
 * Starts the server of each target once, asks it for correct responses, and stops it. Returns how long the slowest took; undefined
 * if the user interrupted. Throws a trial error with the command, the request and the last lines of the server if one fails. A
 * server that was already running is only asked, and may fail later. Built-in stacks are not tried.
 */
export async function tryTargets(
  plan: Plan,
  { prepared, placed, companions, launcher }: ReadyRun,
  { session, voice }: Pick<Job, 'session' | 'voice'>,
): Promise<Found | undefined> {
  if (prepared.every((one) => !('attached' in one) && one.stack.project === undefined)) return {};
  // Its logs are removed with the session.
  const folder = session.makeFolder('try');
  const { token, recordLeftoverServer } = session;
  await using beside = await startCompanions(companions, { token, folder, placed, recordLeftoverServer });
  const started = await createEffects({ plan, token, placed, folder, launcher, companions: beside.all });
  using _ = voice.onInterrupt(started.stop, NOTHING_YET);
  const slowest = { answerSeconds: 0, startupSeconds: 0 };
  const named = new Set<string>();
  const isSlow = (seconds: number): boolean => areSlow(plan, seconds);
  const effects: RunEffects = {
    ...started.effects,
    async verify(...args) {
      const { verified, answerSeconds, route } = await timeAnswers(started.effects, args, isSlow);
      if (route !== undefined && isSlow(answerSeconds) && !named.has(route)) {
        named.add(route);
        const how = `takes ${answerSeconds.toFixed(1)} s, so the windows of all requests are long`;
        voice.log(`warning: a response to ${route} ${how}: measure it in another run`);
      }
      slowest.answerSeconds = Math.max(slowest.answerSeconds, answerSeconds);
      return verified;
    },
  };
  for (const [index, found] of prepared.entries()) {
    if (effects.interrupted()) return undefined;
    const first = plan.trials.find(({ target }) => target === found.target.id);
    if (first === undefined) continue;
    // All requests are tried, also those that are measured one at a time.
    const { route: _route, ...planned } = first;
    const tried = { ...planned, id: `try${index + 1}-${planned.id}` };
    const { target } = found;
    const launched = 'attached' in found ? undefined : found;
    if (launched !== undefined) voice.log(`trying ${target.id}: ${joinWords(launched.variant.command)}`);
    const sinceMs = performance.now();
    const wrong = await tryTarget(tried, contextOf(found, { plan, placed }), effects, voice);
    const seconds = (performance.now() - sinceMs) / 1000;
    if (launched !== undefined) slowest.startupSeconds = Math.max(slowest.startupSeconds, seconds);
    if (effects.interrupted()) return undefined;
    if (wrong !== undefined) throw wrong;
  }
  return effects.interrupted() ? undefined : slowest;
}

/**
 * Verifies a server. Returns what it answered, and the mean time of its slowest route, in seconds; the route has a name if there are
 * others. The first responses of a process are its slowest, those of a JVM by far, so a slow one is asked again.
 */
export async function timeAnswers(
  effects: Pick<RunEffects, 'verify'>,
  [server, draw, when]: Parameters<RunEffects['verify']>,
  isSlow: (seconds: number) => boolean,
): Promise<{ verified: Expected; answerSeconds: number; route?: string }> {
  const { routes = [], requests } = draw;
  // Others may not send what they sent before.
  const mayRepeat = requests.every(({ method }) => method === 'GET');
  let answerSeconds = Infinity;
  for (let round = 1; ; round++) {
    const times = new Map<number, number[]>();
    let sinceMs = performance.now();
    const check: Draw['check'] = (answer, index) => {
      const nowMs = performance.now();
      const route = routes.findIndex(({ first, count }) => index >= first && index < first + count);
      times.set(route, [...(times.get(route) ?? []), (nowMs - sinceMs) / 1000]);
      sinceMs = nowMs;
      return draw.check(answer, index);
    };
    const verified = await effects.verify(server, { ...draw, check }, when);
    const means = [...times].map(([route, own]) => ({ route: routes[route]?.name, seconds: mean(own) }));
    const [slowest] = means.toSorted((a, b) => b.seconds - a.seconds);
    answerSeconds = Math.min(answerSeconds, slowest?.seconds ?? 0);
    if (round < MOST_TIMES && mayRepeat && isSlow(answerSeconds)) continue;
    return { verified, answerSeconds, ...(means.length > 1 && present({ route: slowest?.route })) };
  }
}

/**
 * Starts a server and stops it. Returns the error for the user if it failed. A server that was already running is only asked: if it
 * fails, this says what to do, and the run what was wrong.
 */
async function tryTarget(
  planned: PlannedTrial,
  context: TrialContext,
  effects: RunEffects,
  voice: Voice,
): Promise<BenchError | undefined> {
  const { plan, prepared } = context;
  const life = new ServerLife(planned, context, effects);
  using _ = prepared && reportWaiting(() => life.awaited, { plan, prepared }, voice);
  let failed: unknown;
  try {
    await life.start();
  } catch (error) {
    failed = error;
    life.fail(error);
  }
  const [trial] = await life.end();
  for (const { code, text } of trial.reasons) if (code === 'watcher') voice.log(`warning: ${text}`);
  if (!life.failed || effects.interrupted()) return undefined;
  if (prepared === undefined) {
    const fault = faultOf(failed);
    if (fault !== undefined) voice.log(`hint: ${cureFor(fault, nameRequests(plan))}`);
    return undefined;
  }
  if (!(failed instanceof CompanionError)) return describeFailure(failed, trial, { plan, prepared });
  const hint = `correct "services" or "setup" in ${prepared.stack.manifest}`;
  return failed.explained(hint, `${prepared.target.id} cannot be measured: `);
}

/** Reports regularly on a server that does not answer yet, until disposed: first with its last lines. */
export function reportWaiting(
  awaited: () => Awaited | undefined,
  { plan, prepared }: { plan: Plan; prepared: Pick<Prepared, 'variant' | 'stack'> },
  { log }: Pick<Voice, 'log'>,
): Disposable {
  let seconds = 0;
  let isFirst = true;
  const timer = setInterval(() => {
    seconds += WAITING_SECONDS;
    const found = awaited();
    if (found === undefined) return;
    const { server, isLoggingIn } = found;
    const elsewhere = seeElsewhere(server);
    const why =
      elsewhere === undefined
        ? found.wrong
        : `${elsewhere.text}: ${cureFor(elsewhere.fault, nameStart(plan, prepared))}`;
    const what = why === undefined ? '' : `; ${why}`;
    const start = isFirst ? describeStart(plan, prepared, isLoggingIn ? undefined : server.logTail()) : [];
    isFirst = false;
    const limit = `${plan.startSeconds} s`;
    log([`waiting for its first correct response: ${seconds} s of ${limit}${what}`, ...start].join('\n'));
  }, WAITING_SECONDS * 1000);
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

/** Describes the start of a server: its command, its folder, the request and its last lines, if they may be shown. */
function describeStart(
  plan: Plan,
  { variant, stack }: Pick<Prepared, 'variant' | 'stack'>,
  logTail: readonly string[] | undefined,
): string[] {
  const [request] = workloadOf(plan).draw(() => 0.5, plan.params ?? {}).requests;
  return [
    `  command: ${joinWords(variant.command)}`,
    `  folder:  ${showPath(stack.root)}`,
    ...(request === undefined ? [] : [`  asked:   ${request.method} ${request.path}`]),
    ...(logTail === undefined
      ? ['  its last lines are not shown during the login, because they may hold its token']
      : describeTail(logTail, '  ')),
  ];
}

function describeFailure(
  error: unknown,
  trial: Trial,
  { plan, prepared }: { plan: Plan; prepared: Prepared },
): BenchError {
  const fault = faultOf(error);
  const hint = error instanceof BenchError ? error.hint : undefined;
  const { id } = prepared.target;
  return new TrialError(
    [
      `${id} ${OUTCOMES[fault?.kind ?? 'other'] ?? 'does not start'}: ${trial.reasons[0]?.text ?? 'no reason'}`,
      ...describeStart(plan, prepared, trial.logTail ?? []),
    ].join('\n'),
    fault === undefined ? hint : cureFor(fault, nameStart(plan, prepared)),
  );
}

function faultOf(error: unknown): Fault | undefined {
  if (error instanceof UnansweredError) return { kind: 'silent' };
  return error instanceof FaultError ? error.fault : undefined;
}

/** What became of a server that did start. */
const OUTCOMES: Partial<Record<Fault['kind'] | 'other', string>> = {
  silent: 'does not respond',
  'hangs-up': 'does not respond',
  tls: 'does not speak HTTP/1.1 without TLS',
  'no-tls': 'does not speak TLS',
  'no-http': 'does not speak HTTP',
  http2: 'does not speak HTTP/1.1',
  'wrong-answer': 'starts, but its response is wrong',
  'refuses-repeats': 'starts, but accepts the request only once',
  other: 'cannot be measured',
};

/** Names what the user can change about a server and its requests. */
function nameStart(plan: Plan, { variant, stack }: Pick<Prepared, 'variant' | 'stack'>): Named {
  const { https: _, ...requests } = nameRequests(plan);
  const { manifest } = stack;
  const words = variant.command;
  if (plan.apps !== undefined) {
    const patience = 'write its stack.json with init, which waits longer';
    return { ...requests, command: '--run', words, patience };
  }
  return {
    ...requests,
    command: `the command in ${manifest}`,
    https: { on: `add "scheme": "https" to ${manifest}`, off: `remove "scheme" from ${manifest}` },
    words,
    patience: `"startTimeoutSeconds": 120 in ${manifest}`,
    movesPort: stack.movedPort !== undefined,
  };
}

/** Names what the user can change about the requests, if Bench does not start the server. */
function nameRequests({ userRequests, workload }: Plan): Named {
  return {
    command: 'its command',
    https: { on: 'write https://', off: 'write http://' },
    words: [],
    requests: userRequests?.openapi ?? userRequests?.from,
    workload: userRequests === undefined ? workload : undefined,
  };
}
