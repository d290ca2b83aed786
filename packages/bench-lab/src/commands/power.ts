import { showPath } from 'bench-machine/files';
import { measureTwins, runTest, type TestContext, type TestSetup } from '../measure/sequential-test.ts';
import { onInterrupt, print, logLine } from 'bench-http/terminal/shell';
import { defineCommand, option, WAITS } from 'bench-http/cli/command';
import { extra, listOf, text, wholeNumber } from 'bench-http/cli/values';
import { commandLine, HOME } from 'bench-machine/home';
import { join } from 'node:path';
import { summarisePool } from '../analyse/power.ts';
import { unlikeHosts } from 'bench-analysis/unlike';
import { UsageError } from 'bench-model/errors';
import { EFFECTS } from '../measure/twins.ts';
import { describeEffect, renderPower } from '../report/power.ts';
import { toOutput } from 'bench-report/printable';
import { readHost } from 'bench-machine/host';
import {
  appendPooled,
  createPool,
  type Effect,
  POOL_SCHEMA,
  readPool,
  type Pool,
  type PooledTest,
} from '../results/pool.ts';
import { writeReport } from 'bench-analysis/results/store';
import { placeProcesses } from 'bench-http/conduct/prepare';
import { openSession } from 'bench-http/conduct/session';

/** The longest time of a test, in seconds. */
const TEST_SECONDS = 120;

export default defineCommand({
  name: 'power',
  about:
    'Measures how often a comparison is right. Compares two builds of one server, one of which uses more CPU per request, for at most 2 minutes each. Adds the results to a pool.',
  options: {
    tests: option('<n>', wholeNumber(0), {
      help: 'comparisons of two builds to add; 0 only prints the pool',
      default: EFFECTS.length,
    }),
    effects: option('<share,…>', listOf(planted), {
      help: 'the effects to plant, after the response with +later; the one with the fewest comparisons in the pool is next',
      usually: EFFECTS.map(typedAs).join(','),
    }),
    pool: option('<folder>', text, { help: 'the folder of the pool', usually: 'results/power' }),
    ...WAITS,
  },
  async run({ tests, effects = EFFECTS, pool: typedFolder, wait }) {
    const folder = typedFolder ?? join(HOME.results, 'power');
    const stored = readPool(folder);
    const interrupted = tests > 0 && (await addTo(folder, stored, { tests, effects, wait }));
    const pool = readPool(folder);
    // If the first test was interrupted, there is no pool yet.
    if (pool === undefined && interrupted) return 130;
    if (pool === undefined)
      throw new UsageError(`${showPath(folder)} has no pool`, `${commandLine('power')} creates one`);
    const report = renderPower(pool, summarisePool(pool.entries));
    writeReport(folder, 'power.txt', toOutput(report));
    print(report);
    logLine(`saved in ${showPath(folder)}`);
    return interrupted ? 130 : 0;
  },
});

/** The entries to add. */
interface More {
  tests: number;
  /** The effects to plant in these tests. */
  effects: readonly Effect[];
  /** True if the command waits for another run to end. */
  wait: boolean;
}

/** Adds sequential tests to the pool; stores each once it is complete. Returns true if interrupted. */
async function addTo(
  folder: string,
  stored: Pool | undefined,
  { tests, effects, wait }: More,
): Promise<boolean> {
  using session = await openSession('power', { wait });
  session.expect(tests * TEST_SECONDS);
  const host = await readHost();
  const unlike = stored === undefined ? [] : unlikeHosts(stored.host, host);
  if (unlike.length > 0)
    throw new UsageError(
      `the pool was measured on another host: ${unlike.join('; ')}`,
      'start another pool with --pool FOLDER',
    );
  const placed = await placeProcesses({ serverCores: 1, generators: 1 }, logLine);
  const work = session.makeFolder('work');
  let stopped = false;
  let stopLive: (() => void) | undefined;
  using _ = onInterrupt(() => {
    stopped = true;
    stopLive?.();
  }, 'stopping: completed tests are saved, the current one is discarded');
  const context: TestContext = {
    placed,
    token: session.token,
    folder: work,
    isInterrupted: () => stopped,
    track(stop) {
      stopLive = stop;
    },
  };

  if (stored === undefined) {
    const twins = await measureTwins(context);
    if (twins === undefined) return true;
    createPool(folder, { schema: POOL_SCHEMA, host, twins });
  }
  const pool = readPool(folder) as Pool;
  const done = [...pool.entries];
  for (let index = 1; index <= tests; index++) {
    const setup = nextTest(done, effects);
    const test = await runTest(pool.twins, setup, context);
    if (test === undefined) return true;
    appendPooled(folder, test);
    done.push(test);
    logLine(`[${index}/${tests}] ${describeTest(test)}`);
  }
  return false;
}

/**
 * Returns the next test: the effect with the fewest tests so far. Every other A/A test compares two copies of the same
 * program in different folders.
 */
export function nextTest(done: readonly Effect[], effects: readonly Effect[]): TestSetup {
  const testsOf = (wanted: Effect): number => done.filter((one) => typedAs(one) === typedAs(wanted)).length;
  const [next = { effect: 0 }] = effects.toSorted((a, b) => testsOf(a) - testsOf(b));
  return { ...next, copied: next.effect === 0 && testsOf(next) % 2 === 1 };
}

/** Reads an effect: `3%`, `3%+later`. */
function planted(typed: string, name: string): Effect {
  const share = typed.replace(/\+later$/, '');
  return { effect: extra(share, name), ...(share !== typed && { deferred: true }) };
}

function typedAs({ effect, deferred = false }: Effect): string {
  return `${100 * effect}%${deferred ? '+later' : ''}`;
}

function describeTest({ copied, verdict, ratio = NaN, rounds, seconds, ...effect }: PooledTest): string {
  const what = `${describeEffect(effect)}${copied ? ', copied' : ''}`;
  return `${what}: ${verdict}, × ${ratio.toFixed(3)} after ${rounds} rounds, ${seconds.toFixed(0)} s`;
}
