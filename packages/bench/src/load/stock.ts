/**
 * Runs stock autocannon in a separate process, for comparison with the driver. `node stock.ts URL CONNECTIONS SECONDS`
 * prints one JSON line with its printed figures and its cost.
 */
import autocannon from 'autocannon';
import { build } from 'hdr-histogram-js';
import { sum } from '../numbers.ts';

/** The result of one run of stock autocannon. */
export interface StockResult {
  /** Answers of any status. */
  completed: number;
  /** Its printed average Req/Sec. */
  printedAverage: number;
  /** Its printed mean latency, in ms. */
  printedLatencyMs: number;
  errors: number;
  /** Answers, and CPU of this process in µs, between its first and its last tick: without start-up and connects. */
  steady: { completed: number; cpuUs: number };
}

const [url = '', connections = '10', duration = '5'] = process.argv.slice(2);

// Its histogram of answers per tick, which also reads the CPU clock at each tick.
const ticks: { completed: number; cpuUs: number }[] = [];
const requests = build({
  autoResize: true,
  highestTrackableValue: 1_000_000,
  numberOfSignificantValueDigits: 3,
});
const record = requests.recordValue.bind(requests);
requests.recordValue = (completed) => {
  const { user, system } = process.cpuUsage();
  ticks.push({ completed, cpuUs: user + system });
  record(completed);
};

const result = await autocannon({
  url,
  connections: Number(connections),
  duration: Number(duration),
  histograms: { requests },
});
const told: StockResult = {
  completed: result.requests.total,
  printedAverage: result.requests.average,
  printedLatencyMs: result.latency.average,
  errors: result.errors,
  steady: {
    completed: sum(ticks.slice(1).map((tick) => tick.completed)),
    cpuUs: (ticks.at(-1)?.cpuUs ?? 0) - (ticks[0]?.cpuUs ?? 0),
  },
};
process.stdout.write(`${JSON.stringify(told)}\n`);
