/** From a request to a stored run: its targets, prepared and tried, its plan, and the measurement. */
import type { Job, MeasuredRun } from './job.ts';
import { TrialError } from 'bench-model/errors';
import { secretsIn } from '../plan/secrets.ts';
import { hide } from 'bench-machine/redact';
import { countOf } from 'bench-report/format';
import { describeLeftOut } from 'bench-report/requests';
import { shown } from 'bench-analysis/results/store';
import { loadCluster } from '../cluster.ts';
import { DisposableStack } from '@whatwg-node/disposablestack';
import { refuseAlone } from '../plan/refusals.ts';
import { measurePlan, placementOf, refuseOtherHost } from './measure.ts';
import { prepareRun } from './prepare.ts';
import { tryTargets } from './tryout.ts';
import { planFrom, probing, withOptions, type ResolvedRequest } from './resolve.ts';
import { openSession } from './session.ts';
import { NOTHING_YET, SAVED, type Voice } from '../terminal/voice.ts';

/** Measures a request and stores the run. Undefined if it was interrupted before its rate was known. */
export async function measureRequest(
  request: ResolvedRequest,
  voice: Voice,
): Promise<MeasuredRun | undefined> {
  const { raw, outline } = request;
  hide(secretsIn(outline));
  // On other hosts, their own sessions measure alone.
  const isAlone = outline.spread === undefined;
  using session = await openSession(outline.run, { isAlone, wait: raw.wait, voice });
  for (const line of describeLeftOut(outline.userRequests)) voice.log(line);
  // The session ends with this function, so it waits for the run.
  return await (isAlone ? measureHere : measureThere)({ request, session, voice });
}

/** Prepares the targets of a request, tries them, makes its plan from what was found, and measures it. */
async function measureHere({ request, session, voice }: Job): Promise<MeasuredRun | undefined> {
  const { resumed, isNamed } = request;
  using kept = new DisposableStack();
  const quit = (): void =>
    voice.quit(() => {
      kept[Symbol.dispose]();
      session[Symbol.dispose]();
    });
  using _ = voice.onInterrupt(quit, (resumed?.trials ?? []).length > 0 ? SAVED : NOTHING_YET);
  const ready = await prepareRun(request.outline, {
    session,
    isNamed,
    voice,
    kept,
    check: (host, placed) => {
      if (resumed !== undefined) refuseOtherHost(resumed, host, placementOf(resumed, placed));
    },
  });
  const leftOut = ready.leftOut.map(({ target }) => target);
  refuseAlone(request.outline, leftOut);
  const at = { session, voice };
  const tried = resumed === undefined ? await tryTargets(request.outline, ready, at) : {};
  if (tried === undefined) quit();
  const measure = (one: ResolvedRequest): Promise<MeasuredRun> =>
    measurePlan(planFrom(one, { ...tried, leftOut }), { request: one, ready, ...at });
  const rated = await findRate(request, voice, measure);
  return rated && (await measure(rated));
}

/** Measures a request on its hosts, whose code is loaded only here. Nobody tries its targets: they are there. */
async function measureThere({ request, ...at }: Job): Promise<MeasuredRun | undefined> {
  const { measureSpread } = await loadCluster();
  const measure = (one: ResolvedRequest): Promise<MeasuredRun> => measureSpread({ request: one, ...at });
  const rated = await findRate(request, at.voice, measure);
  return rated && (await measure(rated));
}

/**
 * Returns a request with its rate: half of the slowest target's goodput, if that is to be measured first. Undefined if it was
 * interrupted. Throws if a target fails.
 */
async function findRate(
  request: ResolvedRequest,
  { log }: Voice,
  measure: (probe: ResolvedRequest) => Promise<MeasuredRun>,
): Promise<ResolvedRequest | undefined> {
  const { raw, options, outline } = request;
  if (!raw.autoRate) return request;
  const { run: probe, interrupted } = await measure(
    withOptions(request, probing(options), `${outline.run}-probe`),
  );
  if (interrupted) return undefined;
  const goodputs = probe.trials.map((trial) => {
    if (trial.status !== 'failed') return { trial, goodput: trial.measured.load.goodputPerSecond };
    throw new TrialError(
      `${trial.target.id} failed, so the rate cannot be derived from its goodput: ${trial.reasons[0]?.text ?? ''}`,
      'give a rate, e.g. --rate 1000',
    );
  });
  const slowest = goodputs.toSorted((a, b) => a.goodput - b.goodput)[0];
  const perSecond = Math.max(1, Math.floor((slowest?.goodput ?? 0) / 2));
  log(
    `rate: ${perSecond}/s, half of the goodput of ${slowest?.trial.target.id} at ${countOf(slowest?.trial.connections ?? 0, 'connection')} (${shown(probe.folder)})`,
  );
  return withOptions(request, { ...options, load: { ...options.load, mode: 'open', perSecond } });
}
