/**
 * Explains commits with planted causes again and again, for docs/findings/why.md. The first call measures them once. Each call then adds
 * a try: three fresh servers of each commit under a profiler, which is the least that `--why` takes.
 *
 * `pnpm exec node packages/bench-lab/examples/tries.ts results/published/<date>-causes causes-node`
 */
import { copyFileSync, existsSync, globSync, mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const [given = '', name = ''] = process.argv.slice(2);
const place = resolve(given);
const folder = join(tmpdir(), 'bench-tries', name);
// Bench works in the project of the current folder, which it looks for when it is loaded.
if (existsSync(folder)) process.chdir(folder);
const { findRun, readRun } = await import('bench-analysis/results/store');
const { showWhy } = await import('../../bench/src/conduct/compared.ts');
const { openSession } = await import('../../bench/src/conduct/session.ts');
const { pairsOf, profileRun } = await import('../../bench/src/conduct/why.ts');
const { terminal } = await import('../../bench/src/terminal/shell.ts');
const { record } = await import('./record.ts');

async function addTry(): Promise<void> {
  const run = readRun(findRun('latest'));
  using session = await openSession(`${run.plan.run} (why)`, { wait: true });
  const why = await profileRun(run, pairsOf(run), { session, voice: terminal, mostSeconds: 0 });
  if (why === undefined) throw new Error('interrupted');
  showWhy(why);
  const kept = join(place, `${name}-${1 + globSync(`${name}-*`, { cwd: place }).length}`);
  mkdirSync(kept);
  copyFileSync(join(run.folder, 'why.json'), join(kept, 'why.json'));
}

await (existsSync(folder) ? addTry() : record(name, { folder, place }));
