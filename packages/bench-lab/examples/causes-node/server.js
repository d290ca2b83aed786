import { readFileSync } from 'node:fs';
import express from 'express';
import { listOrders, pool } from './orders.js';

await pool.query(readFileSync('schema.sql', 'utf8'));
const app = express();
app.get('/orders', async (request, response) => response.json(await listOrders()));
app.listen(process.env.PORT);
