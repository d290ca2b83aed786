import { BenchError } from '../model/errors.ts';
import { programBeside } from '../home.ts';
import type { PinnedCommands } from '../machine/placement.ts';
import { run } from '../machine/subprocess.ts';
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
