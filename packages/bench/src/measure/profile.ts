/** One profile of one fresh server: its CPU per request without the profiler, and then its stacks under it. */
import { warmupSecondsOf } from 'bench-model/planned';
import { foldProfiles, NAMELESS, type Stack } from 'bench-analysis/why/fold';
import { BenchError } from 'bench-model/errors';
import type { Prepared } from 'bench-targets/prepare/prepare';
import type { Profiler } from 'bench-targets/profile/profilers';
import type { PlannedTrial } from 'bench-model/plan';
import { sum } from 'bench-statistics/numbers';
import { ServerLife, type TrialContext, type TrialEffects } from './life.ts';
import { TurnTaker } from './turns.ts';
import { accountFor, watchForDeath } from './window.ts';

/** The load without a profiler, from which CPU per request comes, and the load under it. */
export const PROFILE_SECONDS = { plain: 1, profiled: 2.5 };

/** The findings of a profile: CPU per request in µs without and with the profiler, and the stacks. */
export interface TakenProfile {
  cpuUs: number;
  profiledUs: number;
  stacks: Stack[];
}

/** Profiles a fresh server. `file` is a path prefix. Throws a trial error with the reason if the server or the profiler fails. */
export async function takeProfile(
  planned: PlannedTrial,
  context: TrialContext & { prepared: Prepared },
  { effects, profiler, file }: { effects: TrialEffects; profiler: Profiler; file: string },
): Promise<TakenProfile> {
  const prepared = profiler.ready(context.prepared, file);
  const life = new ServerLife(planned, { ...context, prepared }, effects);
  let taken: TakenProfile | undefined;
  try {
    taken = await takeTurns(life, planned, context, { effects, profiler, file });
    await life.afterLoad();
  } catch (error) {
    life.fail(error);
  }
  const [trial] = await life.end();
  if (taken !== undefined && !life.failed) return taken;
  throw new BenchError('trial', trial.reasons[0]?.text ?? 'the server was not profiled');
}

async function takeTurns(
  life: ServerLife,
  planned: PlannedTrial,
  { plan, prepared }: TrialContext & { prepared: Prepared },
  { effects, profiler, file }: { effects: TrialEffects; profiler: Profiler; file: string },
): Promise<TakenProfile> {
  const ready = await life.start();
  const pid = ready.server.pid();
  if (pid === undefined || ready.meter === undefined)
    throw new BenchError('trial', 'the CPU of the server cannot be read');
  await using session = effects.load().open(ready.spec, plan.generators);
  await using _ = accountFor(session, (counts) => life.account(counts));
  using death = watchForDeath(ready.server);
  const outlive = async <T>(step: Promise<T>): Promise<T> => {
    step.catch(() => {});
    return Promise.race([step, death.promise]);
  };
  await outlive(session.arm());
  // Nothing but CPU is read around these turns, so companions may work beside them.
  const taker = TurnTaker.of({ ...ready, sampler: undefined, beside: [] }, session.turns);
  if (taker === undefined) throw new Error('the load driver takes no turns');
  const load = async (seconds: number): Promise<number> => {
    await life.renewToken(seconds, { session });
    const { answers } = await outlive(taker.take({ rampSeconds: 0, spanSeconds: seconds }));
    if (answers === 0) throw new BenchError('trial', 'no right answer under load');
    return (taker.taken.cpuUs?.at(-1) ?? 0) / answers;
  };
  await taker.begin([]);
  await load(warmupSecondsOf(plan, planned));
  using during = life.duringLoad();
  const cpuUs = await load(PROFILE_SECONDS.plain);
  await using recording = await outlive(profiler.attach(pid, file));
  const profiledUs = await load(PROFILE_SECONDS.profiled);
  const stacks = foldProfiles(await recording.stop(), prepared.stack.root);
  during[Symbol.dispose]();
  if (stacks.length === 0) throw new BenchError('trial', 'the profiler saw no function of the server');
  refuseNameless(stacks);
  return { cpuUs, profiledUs, stacks };
}

/** Throws a trial error if most of the CPU was spent in functions without a name. */
function refuseNameless(stacks: readonly Stack[]): void {
  const nameless = stacks.filter(({ frames }) => frames.at(-1)?.name === NAMELESS);
  const [some, all] = [nameless, stacks].map((own) => sum(own.map(({ samples }) => samples))) as [
    number,
    number,
  ];
  if (some > all / 2)
    throw new BenchError(
      'trial',
      'its functions have no names: the program was built without symbols, as by go run. Start one that go build made',
    );
}
