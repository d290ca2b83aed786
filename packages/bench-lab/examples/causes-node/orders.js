import lodash from 'lodash';
import pg from 'pg';

export const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL });

export async function listOrders() {
  const { rows: orders } = await pool.query('select id, title from orders order by id');
  const ids = orders.map(({ id }) => id);
  const { rows } = await pool.query('select * from lines where order_id = any($1)', [ids]);
  const lines = lodash.cloneDeep(rows);
  return orders.map((order) => ({ ...order, lines: lines.filter((line) => line.order_id === order.id) }));
}
