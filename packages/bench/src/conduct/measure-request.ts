/** From a request to a stored run: its targets, prepared and tried, its plan, and the measurement. */
import type { Job, MeasuredRun } from './job.ts';
import { secretsIn } from '../plan/secrets.ts';
import { hide } from 'bench-machine/redact';
import { describeLeftOut } from 'bench-report/requests';
import { loadCluster } from '../cluster.ts';
import { DisposableStack } from '@whatwg-node/disposablestack';
import { refuseAlone } from '../plan/refusals.ts';
import { scaleTo } from '../measure/launcher.ts';
import { measurePlan, refuseOtherHost } from './measure.ts';
import { prepareRun } from './prepare.ts';
import { tryTargets } from './tryout.ts';
import { planFrom, type ResolvedRequest } from './resolve.ts';
import { openSession } from './session.ts';
import { NOTHING_YET, SAVED, type Voice } from '../terminal/voice.ts';

/** Measures a request and stores the run. */
export async function measureRequest(request: ResolvedRequest, voice: Voice): Promise<MeasuredRun> {
  const { raw, outline } = request;
  hide(secretsIn(outline));
  // On other hosts, their own sessions measure alone.
  const isAlone = outline.spread === undefined;
  using session = await openSession(outline.run, { isAlone, wait: raw.wait, voice });
  for (const line of describeLeftOut(outline.userRequests)) voice.log(line);
  // The session ends with this function, so it waits for the run.
  const job = { request, session, voice };
  if (isAlone) return await measureHere(job);
  // Their code is loaded only here. Nobody tries the targets: they are there.
  const { measureSpread } = await loadCluster();
  return await measureSpread(job);
}

/** Prepares the targets of a request, tries them, makes its plan from what was found, and measures it. */
async function measureHere({ request, session, voice }: Job): Promise<MeasuredRun> {
  const { resumed, isNamed } = request;
  using kept = new DisposableStack();
  const quit = (): void =>
    voice.quit(() => {
      kept[Symbol.dispose]();
      session[Symbol.dispose]();
    });
  using _ = voice.onInterrupt(quit, (resumed?.trials ?? []).length > 0 ? SAVED : NOTHING_YET);
  const ready = await prepareRun(request.outline, {
    isNamed,
    voice,
    kept,
    check: (host, placed) => {
      if (resumed === undefined) return;
      const [first] = resumed.trials;
      const run = { plan: resumed.plan, placed };
      const { placement } = first === undefined ? placed : scaleTo(first.target, run).placed;
      refuseOtherHost(resumed, host, placement);
    },
  });
  const leftOut = ready.leftOut.map(({ target }) => target);
  refuseAlone(request.outline, leftOut);
  const tried = resumed === undefined ? await tryTargets(request.outline, ready, { session, voice }) : {};
  if (tried === undefined) quit();
  return await measurePlan(planFrom(request, { ...tried, leftOut }), { request, ready, session, voice });
}
