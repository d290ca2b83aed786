/**
 * Runs stock autocannon without end, for comparison with the driver. `node stock-turns.ts URL CONNECTIONS` prints one
 * JSON line when every connection has been answered, and one for each line on stdin. Its parent stops and continues it
 * by signals, and it ends with its stdin.
 */
import autocannon from 'autocannon';
import { sum } from '../numbers.ts';

/** The work of stock autocannon so far. */
export interface StockMark {
  /** Answers of any status. */
  completed: number;
  /** User and system time of this process. */
  cpuUs: number;
}

const FOREVER_SECONDS = 86_400;
const POLL_MS = 20;

const [url = '', connections = '10'] = process.argv.slice(2);
const clients: { reqsMade: number }[] = [];

function tell(): void {
  const { user, system } = process.cpuUsage();
  // Each connection has one open request.
  const completed = sum(clients.map(({ reqsMade }) => reqsMade - 1));
  const mark: StockMark = { completed, cpuUs: user + system };
  process.stdout.write(`${JSON.stringify(mark)}\n`);
}

process.stdin.on('data', tell).on('end', () => process.exit(0));
void autocannon({
  url,
  connections: Number(connections),
  duration: FOREVER_SECONDS,
  setupClient: (client) => clients.push(client),
});
const poll = setInterval(() => {
  if (clients.length < Number(connections) || clients.some(({ reqsMade }) => reqsMade < 2)) return;
  clearInterval(poll);
  tell();
}, POLL_MS);
