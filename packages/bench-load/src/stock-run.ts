import { BenchError } from 'bench-model/errors';
import { programBeside } from 'bench-machine/home';
import type { PinnedCommands } from 'bench-machine/placement';
import { run } from 'bench-machine/subprocess';
import type { StockResult } from './stock.ts';

const STOCK = programBeside(import.meta.url, 'stock');

/** Loads a URL with stock autocannon on the cores of the generators. Throws a trial error if autocannon fails. */
export async function runStock(
  { generator }: Pick<PinnedCommands, 'generator'>,
  url: string,
  connections: number,
  seconds: number,
): Promise<StockResult> {
  const words = [url, connections, seconds].map(String);
  const { stdout } = await run([...generator, process.execPath, STOCK, ...words]).catch((error: Error) => {
    throw new BenchError('trial', `stock autocannon: ${error.message}`);
  });
  return JSON.parse(stdout) as StockResult;
}
