/** The OpenAPI document of a run, from the server itself. */
import type { BenchOptions } from 'bench-model/options';
import type { ResolvedRequest } from './resolve.ts';
import { BenchError } from 'bench-model/errors';
import { sendRequest } from 'bench-targets/catalogue/workloads/send';
import { chooseLauncher } from '../measure/attach.ts';
import { ServerLife } from '../measure/life.ts';
import type { Plan } from 'bench-model/plan';
import { createEffects } from './effects.ts';
import { HINT, withRoutes } from './openapi.ts';
import { placePlanned, prepareTargets } from './prepare.ts';
import type { Session } from './session.ts';
import { NOTHING_YET, type Voice } from '../terminal/voice.ts';

/**
 * Starts the server of the first target of a plan, asks it for the document of a request, and returns the options with its
 * routes.
 */
export async function askForRoutes(
  { raw, options }: ResolvedRequest,
  plan: Plan,
  { session, voice }: { session: Session; voice: Voice },
): Promise<BenchOptions> {
  const path = raw.openapi ?? '';
  voice.log(`asking ${plan.targets[0]?.id} for ${path}`);
  const launcher = await chooseLauncher(plan);
  const first = { ...plan, targets: plan.targets.slice(0, 1) };
  using copies = await placePlanned(first, voice.log);
  const { prepared } = await prepareTargets(first, launcher, {
    isNamed: true,
    log: voice.log,
    copies: copies.stacks,
  });
  const [found] = prepared;
  const [planned] = plan.trials.filter(({ target }) => target === found?.target.id);
  if (found === undefined || planned === undefined || 'attached' in found)
    throw new Error('no server to ask');
  const placed = { placement: { kind: 'unpinned' as const }, server: [], generator: [] };
  const context = { plan, placed, token: session.token, folder: session.makeFolder('openapi'), launcher };
  const { effects, stop } = await createEffects(context);
  using _ = voice.onInterrupt(stop, NOTHING_YET);
  let text: string | undefined;
  const life = new ServerLife(
    planned,
    { plan, placed, prepared: found, target: found.target },
    {
      ...effects,
      async verify(server, { requests: [request] }) {
        if (request !== undefined) text = (await sendRequest(server, request)).body.toString();
        return undefined;
      },
    },
  );
  try {
    await life.start();
  } catch (error) {
    life.fail(error);
  }
  const [trial] = await life.end();
  if (life.failed || text === undefined) {
    const lines = (trial.logTail ?? []).map((line) => `\n  | ${line}`);
    throw new BenchError(
      'trial',
      `${found.target.id} gave no OpenAPI document: ${trial.reasons[0]?.text ?? 'no answer'}${lines.join('')}`,
      HINT,
    );
  }
  return withRoutes(options, { text, shown: path });
}
