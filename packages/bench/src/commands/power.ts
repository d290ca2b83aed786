import { join } from 'node:path';
import { summarisePool } from '../analyse/power.ts';
import { unlikeHosts } from '../analyse/unlike.ts';
import { POWER } from '../cli/commands.ts';
import { BenchError } from '../errors.ts';
import { EFFECTS } from '../measure/twins.ts';
import { createRandom } from '../random.ts';
import { renderPower } from '../report/power.ts';
import { toOutput } from '../report/printable.ts';
import { readHost } from '../machine/host.ts';
import type { PooledTest } from '../results/pool/record.ts';
import { appendPooled, createPool, readPool, type Pool } from '../results/pool/store.ts';
import { RESULTS, shown, writeReport } from '../results/store.ts';
import { POOL_SCHEMA } from '../versions.ts';
import { openSession } from './session.ts';
import { onInterrupt, print, createRunner, logLine } from './shell.ts';
import { LOOKS, measureTwins, repeatBothWays, runTest, type Means } from './sequential-test.ts';

/** The approximate time of a sequential test with its stock runs, and of an A/A round with both methods, in seconds. */
const TEST_SECONDS = 150;
const ROUND_SECONDS = 30;

export const runPower = createRunner(
  POWER,
  async ({ tests = EFFECTS.length, noise, target, pool: asked, wait }) => {
    const folder = asked ?? join(RESULTS, 'power');
    const stored = readPool(folder);
    const interrupted =
      tests + noise > 0 ? await addTo(folder, stored, { tests, noise, target, wait }) : false;
    const pool = readPool(folder);
    // If the first test was interrupted, there is no pool yet.
    if (pool === undefined && interrupted) return 130;
    if (pool === undefined)
      throw new BenchError('usage', `${shown(folder)} has no pool`, 'pnpm bench:power creates one');
    const text = renderPower(pool, summarisePool(pool.entries, LOOKS, createRandom(1)));
    writeReport(folder, 'power.txt', toOutput(text));
    print(text);
    logLine(`saved in ${shown(folder)}`);
    return interrupted ? 130 : 0;
  },
);

/** The entries to add. */
interface More {
  tests: number;
  noise: number;
  target: string | undefined;
  /** True if the command waits for another run to end. */
  wait: boolean;
}

/** Adds sequential tests and A/A rounds to the pool; stores each once it is complete. Returns true if interrupted. */
async function addTo(
  folder: string,
  stored: Pool | undefined,
  { tests, noise, target = 'vanilla', wait }: More,
): Promise<boolean> {
  using session = await openSession('power', { wait });
  session.expect(tests * TEST_SECONDS + noise * ROUND_SECONDS);
  const host = await readHost();
  const unlike = stored === undefined ? [] : unlikeHosts(stored.host, host);
  if (unlike.length > 0)
    throw new BenchError(
      'usage',
      `the pool was measured on another host: ${unlike.join('; ')}`,
      'start another pool with --pool FOLDER',
    );
  const placed = await session.place({ serverCores: 1, generators: 1 });
  const work = session.makeFolder('work');
  let stopped = false;
  let stopLive: (() => void) | undefined;
  using _ = onInterrupt(() => {
    stopped = true;
    stopLive?.();
  }, 'stopping: completed tests are saved, the current one is discarded');
  const means: Means = {
    placed,
    token: session.token,
    folder: work,
    isInterrupted: () => stopped,
    track(stop) {
      stopLive = stop;
    },
  };

  if (stored === undefined) {
    const twins = await measureTwins(means);
    if (twins === undefined) return true;
    createPool(folder, { schema: POOL_SCHEMA, host, twins });
  }
  const pool = readPool(folder) as Pool;
  const before = pool.entries.filter(({ kind }) => kind === 'sequential-test').length;
  for (let index = before; index < before + tests; index++) {
    const test = await runTest(pool.twins, index, means);
    if (test === undefined) return true;
    appendPooled(folder, test);
    logLine(`[${index - before + 1}/${tests}] ${describeTest(test)}`);
  }
  for (let round = 1; round <= noise; round++) {
    const rounds = await repeatBothWays(target, means);
    if (rounds === undefined) return true;
    for (const one of rounds) appendPooled(folder, one);
    logLine(`[${round}/${noise}] A/A round of ${target}, separate and as a duel`);
  }
  return false;
}

function describeTest({
  effect,
  copied,
  verdict,
  ratio = Number.NaN,
  rounds,
  seconds,
  stock,
}: PooledTest): string {
  const planted = effect === 0 ? `A/A${copied ? ', copied' : ''}` : `+${effect * 100} %`;
  const printed =
    stock === undefined
      ? ''
      : `; stock printed ${Math.round(stock.baseline)} and ${Math.round(stock.candidate)}`;
  return `${planted}: ${verdict}, × ${ratio.toFixed(3)} after ${rounds} rounds, ${seconds.toFixed(0)} s${printed}`;
}
