/**
 * Runs stock autocannon without end, for comparison with the driver. `node rival-stock.ts URL CONNECTIONS` prints its work
 * when every connection has been answered, and for each line on stdin. Its parent stops and continues it by signals.
 */
import autocannon from 'autocannon';
import { sum } from 'bench-statistics/numbers';
import { tellWork } from './marks.ts';

const FOREVER_SECONDS = 86_400;
const POLL_MS = 20;

const [url = '', connections = '10'] = process.argv.slice(2);
const clients: { reqsMade: number }[] = [];

// Each connection has one open request.
const tell = tellWork(() => sum(clients.map(({ reqsMade }) => reqsMade - 1)));
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
