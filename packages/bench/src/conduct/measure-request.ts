/** From a plan to a stored run: the session, the measurement. */
import type { Job, MeasuredRun } from './job.ts';
import type { BenchRequest } from '../plan/request.ts';
import { stopRun } from 'bench-analysis/due';
import { BenchError } from 'bench-model/errors';
import type { Plan } from 'bench-model/plan';
import { type BenchOptions, present } from 'bench-model/options';
import { restoreSecrets, secretsIn } from '../plan/secrets.ts';
import { hide } from 'bench-machine/redact';
import { countOf } from 'bench-report/format';
import { describeLeftOut } from 'bench-report/requests';
import { shown, type StoredRun } from 'bench-analysis/results/store';
import { loadCluster } from '../cluster.ts';
import { askForRoutes } from './ask-server.ts';
import { measurePlan } from './measure.ts';
import { isReadFromServer } from './openapi.ts';
import { planFrom, probing, type ResolvedRequest } from './resolve.ts';
import { openSession } from './session.ts';
import type { Voice } from '../terminal/voice.ts';

/** Measures a request and stores the run. Undefined if it was interrupted before there was a plan. */
export async function measureRequest(
  request: ResolvedRequest,
  voice: Voice,
): Promise<MeasuredRun | undefined> {
  const { raw, resumed, repeated, goesOn } = request;
  const typed = repeated === undefined ? raw.typed : repeated.typed;
  const resolved = restore(request.plan, raw);
  hide(secretsIn(resolved));
  const { run } = resolved;
  // On other hosts, their own sessions measure alone.
  const isAlone = resolved.spread === undefined;
  using session = await openSession(run, { isAlone, wait: raw.wait, voice });
  const isOpen = isReadFromServer(raw);
  const options = isOpen ? await askForRoutes(request, resolved, { session, voice }) : request.options;
  const ready = isOpen ? planFrom(run, options) : resolved;
  for (const line of describeLeftOut(ready.userRequests)) voice.log(line);
  const job = { session, isNamed: namesAll(options), voice, ...present({ typed }) };
  const plan = raw.autoRate ? await planAtHalf(run, options, job) : ready;
  if (plan === undefined) return undefined;
  // The session ends with this function, so it waits for the run.
  return await measure({
    ...job,
    plan,
    resumed,
    ...present({
      goesOn,
      planWithout: resumed === undefined ? planWithout(plan, options, repeated) : undefined,
    }),
  });
}

/** Returns a function that makes a plan anew without some of its targets. */
function planWithout(
  { run, seed, load }: Plan,
  options: BenchOptions,
  repeated: StoredRun | undefined,
): (targets: readonly string[]) => Plan {
  return (without) => planFrom(run, { ...options, seed, load, without }, repeated);
}

/** Measures a plan here, or on its hosts. Their code is loaded only for a plan that has some. */
async function measure(wanted: Job): Promise<MeasuredRun> {
  const { plan, resumed } = wanted;
  // Whatever became of the run, its report so far was a look.
  const job = { ...wanted, plan: resumed === undefined ? plan : stopRun(plan, resumed.trials) };
  if (plan.spread === undefined) return measurePlan(job);
  const { measureSpread } = await loadCluster();
  return measureSpread(job);
}

/**
 * Returns true if every target was named in full. A missing one is then an error; in a matrix or a glob it is
 * omitted.
 */
function namesAll({ targets, matrix }: BenchOptions): boolean {
  const isMatrix = Object.values(matrix).some((alternatives) => alternatives.length > 1);
  return targets.length > 0 && !isMatrix && !targets.some((pattern) => pattern.includes('*'));
}

/** Returns a stored plan with its secrets restored. */
function restore(plan: Plan, { resume, again, secrets }: BenchRequest): Plan {
  const run = resume ?? again;
  if (run === undefined) return plan;
  return restoreSecrets(plan, secrets ?? { headers: {} }, {
    flag: resume === undefined ? 'again' : 'resume',
    run,
  });
}

/**
 * Returns the plan at half of the slowest target's goodput, which it measures first; undefined if interrupted.
 * Throws if a target fails.
 */
async function planAtHalf(
  run: string,
  options: BenchOptions,
  job: Omit<Job, 'plan' | 'resumed'>,
): Promise<Plan | undefined> {
  const plan = planFrom(`${run}-probe`, probing(options));
  const { run: probe, interrupted } = await measure({ ...job, plan, resumed: undefined });
  if (interrupted) return undefined;
  const goodputs = probe.trials.map((trial) => {
    if (trial.status !== 'failed') return { trial, goodput: trial.measured.load.goodputPerSecond };
    throw new BenchError(
      'trial',
      `${trial.target.id} failed, so the rate cannot be derived from its goodput: ${trial.reasons[0]?.text ?? ''}`,
      'give a rate, e.g. --rate 1000',
    );
  });
  const slowest = goodputs.toSorted((a, b) => a.goodput - b.goodput)[0];
  const perSecond = Math.max(1, Math.floor((slowest?.goodput ?? 0) / 2));
  job.voice.log(
    `rate: ${perSecond}/s, half of the goodput of ${slowest?.trial.target.id} at ${countOf(slowest?.trial.connections ?? 0, 'connection')} (${shown(probe.folder)})`,
  );
  return planFrom(run, { ...options, load: { ...options.load, mode: 'open', perSecond } });
}
