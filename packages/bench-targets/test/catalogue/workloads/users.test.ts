import { describe, expect, it } from 'vitest';
import { completeParams } from '../../../src/catalogue/workloads/index.ts';
import { users, usersInsert } from '../../../src/catalogue/workloads/users.ts';
import type { Draw, Workload } from '../../../src/catalogue/workloads/workload.ts';
import { createRandom } from 'bench-statistics/random';

function drawOf(workload: Workload, seed = 1, params = {}): Draw {
  const random = createRandom(seed);
  return workload.draw(() => random.float(), completeParams(workload, params));
}

const check = (draw: Draw, body: unknown, status = 200): string | undefined =>
  draw.check({ status, contentType: 'application/json', body: Buffer.from(JSON.stringify(body)) }, 0);

describe('users', () => {
  const draw = drawOf(users);
  const rows = draw.table?.rows.map((row, index) => ({ id: index + 1, ...row })) ?? [];

  it('accepts only the rows of the table, in their order', () => {
    expect(rows).toHaveLength(100);
    expect(check(draw, rows)).toBeUndefined();
    expect(check(draw, rows.slice(1))).toMatch(/^wrong body/);
    expect(check(draw, rows.toReversed())).toMatch(/^wrong body/);
    expect(check(draw, [])).toMatch(/^wrong body/);
  });

  it('draws different rows of the same size for each trial, or none with rows=0', () => {
    const other = drawOf(users, 2).table?.rows ?? [];
    expect(other[0]).not.toEqual(draw.table?.rows[0]);
    expect(JSON.stringify(other)).toHaveLength(JSON.stringify(draw.table?.rows).length);
    const none = drawOf(users, 1, { rows: 0 });
    expect(none.table).toEqual({ rows: [] });
    expect(check(none, [])).toBeUndefined();
  });

  it('passes the pool settings to the servers, or their defaults', () => {
    expect(draw.env).toEqual({ BENCH_POOL_SIZE: '5', BENCH_POOL_OVERFLOW: '10', BENCH_POOL_TIMEOUT: '30' });
    expect(drawOf(usersInsert, 1, { pool: 20, overflow: 0, pooltimeout: 2 }).env).toEqual({
      BENCH_POOL_SIZE: '20',
      BENCH_POOL_OVERFLOW: '0',
      BENCH_POOL_TIMEOUT: '2',
    });
  });
});

describe('users-insert', () => {
  const draw = drawOf(usersInsert);
  const user = draw.table?.inserts;

  it('begins with an empty table, and sends the row that it expects to be stored', () => {
    expect(draw.table?.rows).toEqual([]);
    expect(JSON.parse(draw.requests[0]?.body ?? '')).toEqual(user);
    expect(drawOf(usersInsert, 2).table?.inserts).not.toEqual(user);
  });

  it('accepts only the row that was sent, with any integer as its id', () => {
    expect(check(draw, { id: 7, ...user }, 201)).toBeUndefined();
    expect(check(draw, { email: user?.email, name: user?.name, id: 70_000 }, 201)).toBeUndefined();
    expect(check(draw, { id: 7, ...user }, 200)).toMatch(/^status 200 instead of 201/);
    expect(check(draw, { id: '7', ...user }, 201)).toMatch(/^wrong body/);
    expect(check(draw, { ...user }, 201)).toMatch(/^wrong body/);
    expect(check(draw, { id: 7, ...user, name: 'x' }, 201)).toMatch(/^wrong body/);
    expect(check(draw, null, 201)).toMatch(/^wrong body/);
  });
});
