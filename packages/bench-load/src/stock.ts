/**
 * Runs stock autocannon in a separate process, for comparison with the driver. `node stock.ts URL CONNECTIONS SECONDS`
 * prints one JSON line with its printed figures.
 */
import autocannon from 'autocannon';

/** The result of one run of stock autocannon. */
export interface StockResult {
  /** Answers of any status. */
  completed: number;
  /** Its printed average Req/Sec. */
  printedAverage: number;
  /** Its printed mean latency, in ms. */
  printedLatencyMs: number;
  errors: number;
}

const [url = '', connections = '10', duration = '5'] = process.argv.slice(2);

const result = await autocannon({ url, connections: Number(connections), duration: Number(duration) });
const told: StockResult = {
  completed: result.requests.total,
  printedAverage: result.requests.average,
  printedLatencyMs: result.latency.average,
  errors: result.errors,
};
process.stdout.write(`${JSON.stringify(told)}\n`);
