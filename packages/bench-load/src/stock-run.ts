import { createRequire } from 'node:module';
import { BenchError } from 'bench-model/errors';
import type { PinnedCommands } from 'bench-machine/placement';
import { run } from 'bench-machine/subprocess';

const STOCK = createRequire(import.meta.url).resolve('autocannon');

/** Loads a URL with stock autocannon on the cores of the generators, and returns the average requests per second that it prints. Throws a trial error if it fails. */
export async function runStock(
  { generator }: Pick<PinnedCommands, 'generator'>,
  url: string,
  connections: number,
  seconds: number,
): Promise<number> {
  const words = ['--json', '--connections', String(connections), '--duration', String(seconds), url];
  const { stdout } = await run([...generator, process.execPath, STOCK, ...words]).catch((error: Error) => {
    throw new BenchError('trial', `stock autocannon: ${error.message}`);
  });
  return (JSON.parse(stdout) as { requests: { average: number } }).requests.average;
}
