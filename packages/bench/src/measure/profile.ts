/** A profile of a fresh server: what a request takes without the profiler, its stacks, and its system calls. */
import { openedShare } from 'bench-analysis/judge/judge';
import { foldProfiles, NAMELESS } from 'bench-analysis/why/fold';
import { readLines } from 'bench-machine/files';
import { familyOf, readProcess } from 'bench-machine/procfs';
import { TrialError } from 'bench-model/errors';
import type { Prepared } from 'bench-targets/prepare/prepare';
import { attachCounter, parseCalls } from 'bench-targets/profile/calls';
import { watchTelling, watchWaits, withTelling } from 'bench-targets/profile/telling';
import type { Profiler } from 'bench-targets/profile/profilers';
import type { Calls, Profile, Stack } from 'bench-model/why';
import type { PlannedTrial } from 'bench-model/plan';
import { present } from 'bench-model/options';
import { sum } from 'bench-statistics/numbers';
import { causedBetween, placesOf, withTold } from './caused.ts';
import type { TrialContext, TrialEffects } from './effects.ts';
import { ServerLife } from './life.ts';
import { attempt, Generators, sideOf, withSessions, type Loaded } from './loaded.ts';
import { TurnTaker } from './turns.ts';
import { warmUp } from './warm-up.ts';

/** The load without a profiler, from which the use of a request comes, that under it, and those for its system calls and its waits. */
export const PROFILE_SECONDS = { plain: 1, profiled: 2.5, counted: 0.5, watched: 1 };

/** The findings of a profile: CPU per request in µs without and with the profiler, the use of a request, and the stacks; none without a profiler. */
export interface TakenProfile extends Pick<Profile, 'cpuUs' | 'profiledUs' | 'perRequest'> {
  stacks: Stack[];
}

/** Profiles a fresh server; without a profiler, only what a request takes. `file` is a path prefix. Throws a trial error with the reason if the server or the profiler fails. */
export async function takeProfile(
  planned: PlannedTrial,
  context: TrialContext & { prepared: Prepared },
  { effects, profiler, file }: { effects: TrialEffects; profiler: Profiler | undefined; file: string },
): Promise<TakenProfile> {
  const watched = profiler?.ready?.(context.prepared, file) ?? context.prepared;
  const prepared = withTelling(watched, `${file}-told`);
  const { plan } = context;
  const life = new ServerLife(planned, { ...context, prepared }, effects);
  let taken: TakenProfile | undefined;
  await attempt(life, async () => {
    const side = sideOf(life, await life.start(), life.trials[0]);
    await using generators = new Generators(effects.load(), plan.generators);
    await withSessions([side], { plan, generators }, async ([one]) => {
      if (one !== undefined && !life.failed)
        taken = await takeTurns(one, { plan, prepared }, { profiler, file });
    });
  });
  const [trial] = await life.end();
  if (taken !== undefined && !life.failed) return taken;
  throw new TrialError(trial.reasons[0]?.text ?? 'the server was not profiled');
}

async function takeTurns(
  one: Loaded,
  { plan, prepared }: Pick<TrialContext, 'plan'> & { prepared: Prepared },
  { profiler, file }: { profiler: Profiler | undefined; file: string },
): Promise<TakenProfile | undefined> {
  const { side, session, outlive } = one;
  const { life, ready } = side;
  const pid = ready.server.pid();
  if (pid === undefined || ready.upkeep === undefined)
    throw new TrialError('the CPU of the server cannot be read');
  // Nothing but CPU is read around these turns, so companions may work beside them.
  const { turns } = session;
  const taker = TurnTaker.of({ ...ready, sampler: undefined, beside: [] }, turns);
  if (turns === undefined || taker === undefined) throw new Error('the load driver takes no turns');
  const load: Load = async (seconds) => {
    await life.requests.renewToken(seconds, { session });
    const { answers } = await outlive(() => taker.take({ rampSeconds: 0, spanSeconds: seconds }));
    if (answers === 0) throw new TrialError('no correct response under load');
    return { answers, cpuUs: (taker.taken.cpuUs?.at(-1) ?? 0) / answers };
  };
  await warmUp([one], plan, { compares: false });
  if (side.outcome.failed) return undefined;
  await taker.begin([]);
  using during = life.duringLoad();
  const tell = await watchTelling(ready.server, prepared, `${file}-told`);
  const counted = await life.countCaused();
  const plain = await load(PROFILE_SECONDS.plain);
  const told = await tell();
  const caused = causedBetween(counted, withTold(await life.countCaused(), told ?? {}), plain.answers);
  await using recording = profiler && (await outlive(() => profiler.attach(pid, file)));
  const profiled = recording && (await load(PROFILE_SECONDS.profiled));
  const stacks = foldProfiles((await recording?.stop()) ?? [], prepared.stack.root, readLines);
  if (recording !== undefined) refuseNameless(stacks);
  const calls = await countCalls(pid, `${file}-calls`, load);
  during[Symbol.dispose]();
  const connections = openedShare(await outlive(() => turns.collect()));
  const garbage = told && {
    collections: (1000 * told.count) / plain.answers,
    us: (1000 * told.ms) / plain.answers,
  };
  const threads = sum([...familyOf([pid])].map((own) => readProcess(own)?.threads ?? 0));
  await life.afterLoad();
  const watched = await watchWaits({ pid, log: () => ready.server.log() }, prepared, {
    load: async () => (await load(PROFILE_SECONDS.watched)).answers,
    perSecond: plain.answers / PROFILE_SECONDS.plain,
  });
  const { waits, answers } = { waits: told?.waits, answers: plain.answers, ...watched };
  const places = waits && placesOf(waits, prepared.stack.root, answers);
  const perRequest = { threads, ...caused, ...present({ connections, calls, garbage, places }) };
  return { cpuUs: plain.cpuUs, ...present({ profiledUs: profiled?.cpuUs }), perRequest, stacks };
}

/** Loads the server for some seconds. Returns its correct responses, and its CPU for each, in µs. */
type Load = (seconds: number) => Promise<{ answers: number; cpuUs: number }>;

/** Counts the system calls of a response; undefined where that is not possible. */
async function countCalls(pid: number, file: string, load: Load): Promise<Calls | undefined> {
  await using counter = await attachCounter(pid, file);
  if (counter === undefined) return undefined;
  const { answers } = await load(PROFILE_SECONDS.counted);
  const [text = ''] = await counter.stop();
  const { all, writes, bytes } = parseCalls(text);
  return { all: all / answers, writes: writes / answers, bytes: bytes / answers };
}

/** Throws a trial error if no function was seen, or if most of the CPU was spent in functions without a name. */
function refuseNameless(stacks: readonly Stack[]): void {
  if (stacks.length === 0) throw new TrialError('the profiler saw no function of the server');
  const nameless = stacks.filter(({ frames }) => frames.at(-1)?.name === NAMELESS);
  const [some = 0, all = 0] = [nameless, stacks].map((own) => sum(own.map(({ samples }) => samples)));
  if (some > all / 2)
    throw new TrialError(
      'its functions have no names: the program was built without symbols. If it is one of Go, put go on PATH',
    );
}
