/**
 * Compares an interpreter with a planted build of it: a copy whose processes use 5 % more CPU. Counts how often the comparison says
 * so, and how often its interval holds the planted difference.
 *
 *     pnpm exec node packages/bench-lab/experiments/upgrade/experiment.ts /path/to/python3.15 [tries] [share] [budget]
 */
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { HOME } from 'bench-machine/home';
import { run } from 'bench-machine/subprocess';
import type { Model } from 'bench-report/model/definition';
import { askPython } from 'bench-targets/prepare/interpreters';

const [python = 'python3', tries = '10', burnt = '0.05', budget = '90s'] = process.argv.slice(2);
const share = Number(burnt);

const folder = mkdtempSync(join(tmpdir(), 'bench-planted-'));
try {
  const planted = await plant(python);
  const service = writeService();
  let [right, inside] = [0, 0];
  for (let index = 0; index < Number(tries); index++) {
    const { estimate, low, high, verdict } = await compare(service, planted);
    if (verdict === (share > 0 ? 'slower' : 'same')) right++;
    if (low <= 1 + share && 1 + share <= high) inside++;
    console.log(
      `try ${index + 1}: ${verdict} × ${estimate.toFixed(3)} (${low.toFixed(3)} to ${high.toFixed(3)})`,
    );
  }
  console.log(`right: ${right} of ${tries}; interval holds × ${1 + share}: ${inside} of ${tries}`);
} finally {
  rmSync(folder, { recursive: true });
}

/** Makes the planted build, and returns its path. Its sitecustomize starts what burns CPU. */
async function plant(path: string): Promise<string> {
  const { prefix, executable, version } = await askPython(path);
  const copy = join(folder, 'planted');
  cpSync(prefix, copy, { recursive: true, verbatimSymlinks: true });
  const burner = join(copy, 'burn.so');
  await run(['cc', '-O2', '-shared', '-fPIC', '-o', burner, join(import.meta.dirname, 'burn.c')]);
  const library = join(copy, 'lib', `python${version.split('.', 2).join('.')}`);
  const start = `import ctypes\nlibrary = ctypes.CDLL(${JSON.stringify(burner)})\nlibrary.start(ctypes.c_double(${share}))\n`;
  rmSync(join(library, 'sitecustomize.py'), { force: true });
  writeFileSync(join(library, 'sitecustomize.py'), start);
  return join(copy, relative(prefix, executable));
}

/** Writes a FastAPI service. */
function writeService(): string {
  const service = join(folder, 'service');
  mkdirSync(service);
  writeFileSync(join(service, 'requirements.txt'), 'fastapi\nuvicorn\n');
  writeFileSync(
    join(service, 'app.py'),
    'from fastapi import FastAPI\n\napp = FastAPI()\n\n\n@app.get("/")\nasync def root() -> dict[str, str]:\n    return {"message": "hello"}\n',
  );
  return service;
}

async function compare(
  service: string,
  planted: string,
): Promise<{ verdict: string; estimate: number; low: number; high: number }> {
  const bench = [process.execPath, join(HOME.root, 'packages', 'bench', 'bench-http.mjs'), 'bench'];
  const command = 'uvicorn app:app --port {port} --no-access-log';
  const words = [
    '--app',
    service,
    '--run',
    command,
    '--get',
    '/',
    '--python',
    `plain=${python},planted=${planted}`,
  ];
  const { stdout } = await run([
    ...bench,
    ...words,
    '--warmup',
    '1',
    '--until-decided',
    '--budget',
    budget,
    '--json',
  ]);
  const { comparisons } = JSON.parse(stdout) as Pick<Model, 'comparisons'>;
  const [row] = comparisons.find(({ by }) => by === 'cpu')?.rows ?? [];
  const { verdict = 'none', ratio } = row?.comparison ?? {};
  const { low = NaN, high = NaN } = ratio?.interval ?? {};
  return { verdict, estimate: ratio?.estimate ?? NaN, low, high };
}
