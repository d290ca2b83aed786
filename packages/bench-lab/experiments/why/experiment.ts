/**
 * Profiles three builds of a service: plain, its twin, and one with a planted function that takes 5 % of the CPU of a request. Counts
 * how often that function is the first that changed, and how often a function changed between the twins.
 *
 *     pnpm exec node packages/bench-lab/experiments/why/experiment.ts node|go|go-stripped|python <folder> [tries] [share] [python]
 *
 * The folder keeps the service, its run and the profiles of all tries. A second call continues it.
 */
import { cpSync, existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { explainPair } from 'bench-analysis/why/explain';
import { HOME } from 'bench-machine/home';
import { run } from 'bench-machine/subprocess';
import type { Trial } from 'bench-model/record';
import type { WhyFile } from 'bench-model/why';

const [language = 'node', where = 'planted', tries = '1', share = '0.05', python = '3.13'] =
  process.argv.slice(2);
const folder = resolve(where);
/** What is written into the folder of a project changes its digest. */
const service = join(folder, 'service');
const PLANTED = 'planted';

interface Measured {
  plan: { run: string };
  trials: Trial[];
}

if (!existsSync(folder)) await measure();
const { run: id } = JSON.parse(readFileSync(join(folder, 'run.json'), 'utf8')) as { run: string };
for (let index = 0; index < Number(tries); index++) {
  const taken = await bench(['why', id, '--json']);
  const all = globSync('try-*.json', { cwd: folder }).length;
  writeFileSync(join(folder, `try-${all + 1}.json`), taken);
}
showTries();

/** Writes the service, finds out what its requests cost, and measures the three builds once. */
async function measure(): Promise<void> {
  mkdirSync(folder, { recursive: true });
  cpSync(join(import.meta.dirname, 'services'), service, { recursive: true });
  writeManifest(0);
  const { trials } = await measureVariants(['plain']);
  const [plain] = trials;
  if (plain === undefined || plain.status === 'failed') throw new Error(JSON.stringify(plain?.reasons));
  const us = (plain.measured.cpuUsPerRequest ?? NaN) * Number(share);
  writeManifest(us);
  console.log(`${us.toFixed(1)} µs are planted`);
  const { plan } = await measureVariants(['plain', 'twin', PLANTED]);
  writeFileSync(join(folder, 'run.json'), JSON.stringify({ run: plan.run }));
}

function writeManifest(us: number): void {
  const build = language === 'go' ? ['go', 'build'] : ['go', 'build', '-ldflags', '-s -w'];
  const kinds = {
    python: { command: ['uvicorn', 'app:app', '--port', '{port}', '--no-access-log'], runtime: 'python' },
    node: { command: ['{runtime}', 'server.mjs'], runtime: 'node' },
    go: {
      command: ['{build}/server'],
      build: [[...build, '-o', '{build}/server', '.']],
      runtime: 'none',
    },
  };
  const { command, ...rest } = kinds[language.split('-', 1)[0] as keyof typeof kinds];
  const variant = (plantedUs: number): object => ({ command, env: { PLANTED_US: String(plantedUs) } });
  const manifest = {
    name: 'why',
    language: language === 'node' ? 'javascript' : language.split('-', 1)[0],
    framework: 'none',
    class: 'raw',
    ...rest,
    default: 'plain',
    variants: { plain: variant(0), twin: variant(0), [PLANTED]: variant(us) },
    requests: ['GET /'],
  };
  writeFileSync(join(service, 'stack.json'), JSON.stringify(manifest, null, 2));
}

async function measureVariants(names: string[]): Promise<Measured> {
  const targets = names.map((name) => `why/${name}`);
  const words = ['--rounds', '1', '--duration', '1', '--warmup', '1', '--connections', '10'];
  const runtime = language === 'python' ? ['--python', python] : [];
  const text = await bench(['bench', ...targets, ...words, ...runtime, '--no-interleave', '--json']);
  return JSON.parse(text) as Measured;
}

async function bench(words: string[]): Promise<string> {
  const command = [process.execPath, join(HOME.root, 'packages', 'bench', 'bench-http.mjs'), ...words];
  const { stdout } = await run(command, { cwd: service });
  return stdout;
}

/** Prints for each try what changed first, and counts them. */
function showTries(): void {
  const files = globSync('try-*.json', { cwd: folder }).toSorted();
  let [first, quiet] = [0, 0];
  for (const file of files) {
    const why = JSON.parse(readFileSync(join(folder, file), 'utf8')) as WhyFile;
    const [twins, planted] = why.pairs.map((pair) => explainPair(why, pair));
    const [found] = planted?.functions ?? [];
    const named = [...(twins?.functions ?? []), ...(twins?.modules ?? [])].length;
    if (found?.frame.name.endsWith(PLANTED) === true) first++;
    if (twins !== undefined && named === 0) quiet++;
    const margin =
      found === undefined ? '' : ` ${found.difference.toFixed(1)} ± ${found.margin.toFixed(1)} µs`;
    console.log(`${file}: first ${found?.frame.name ?? 'none'}${margin}; named between twins: ${named}`);
  }
  console.log(
    `planted first: ${first} of ${files.length}; nothing named between twins: ${quiet} of ${files.length}`,
  );
}
