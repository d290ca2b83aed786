import express from 'express';
import { priceOf } from './price.js';

const orders = Array.from({ length: 200 }, (_, index) => ({
  id: index + 1,
  customer: `customer ${index + 1}`,
  lines: Array.from({ length: 5 }, (__, line) => ({
    sku: `sku-${line}`,
    count: line + 1,
    cents: 100 * (line + 1),
  })),
}));

const app = express();

app.get('/health', (_request, response) => {
  response.json({ status: 'ok' });
});

app.get('/orders', (request, response) => {
  const limit = Math.min(100, Number(request.query.limit ?? 20));
  response.json(orders.slice(0, limit).map((order) => ({ ...order, cents: priceOf(order) })));
});

app.get('/orders/:id', (request, response) => {
  const order = orders[Number(request.params.id) - 1];
  if (order === undefined) response.status(404).json({ error: 'no such order' });
  else response.json({ ...order, cents: priceOf(order) });
});

const server = app.listen(Number(process.env.PORT ?? 3000), process.env.HOST ?? '127.0.0.1');
process.on('SIGTERM', () => server.close());
