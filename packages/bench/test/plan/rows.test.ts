import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { benchOptions, type UserRequestOptions, type BenchOptions } from 'bench-model/options';
import type { Plan } from 'bench-model/plan';
import { workloadOf } from 'bench-targets/catalogue/workloads/index';
import type { Draw } from 'bench-targets/catalogue/workloads/workload';
import { makePlan } from '../../src/plan/plan.ts';
import { describeUsedUp, shareOf } from '../../src/plan/rows.ts';
import { errorOf } from '../../../bench-lab/testing/samples.ts';

const folder = mkdtempSync(join(tmpdir(), 'bench-rows-'));
afterAll(() => rmSync(folder, { recursive: true }));
const file = join(folder, 'ids.csv');
writeFileSync(file, `id\n${Array.from({ length: 1000 }, (_, row) => `o${row}`).join('\n')}\n`);

const POST = { requests: [{ method: 'POST', path: '/orders' }], headers: {}, body: '{"id":"{id}"}' };
const planFor = (given: Partial<BenchOptions>, userRequests: Partial<UserRequestOptions> = {}): Plan =>
  makePlan(
    benchOptions({
      servers: [{ url: new URL('http://127.0.0.1:3000') }],
      userRequests: { ...POST, rows: file, ...userRequests },
      connections: [10],
      rounds: 1,
      ...given,
    }),
    [],
    'here',
    1,
  );
const drawOf = (plan: Plan, share?: { index: number; of: number }): Draw =>
  workloadOf(plan).draw(() => 0.3, {}, share);

const message = (given: Partial<BenchOptions>) => errorOf(() => planFor(given)).message;

describe('rows that are sent once', () => {
  it('are refused before the run if fewer than it is known to send', () => {
    const amount = { load: { mode: 'amount' as const, requests: 600 } };
    expect(message(amount)).toBe(
      `${file} has 1,000 rows, and each is sent once: this run needs at least 1,222`,
    );
    const open = { load: { mode: 'open' as const, perSecond: 100 }, warmupSeconds: 1, windowSeconds: 4 };
    expect(message(open)).toContain('this run needs at least 1,022');
    expect(() => planFor({ load: { mode: 'amount', requests: 400 } })).not.toThrow();
    const again = { ...POST.requests[0]!, body: POST.body, weight: 1, headers: {}, repeat: true as const };
    expect(() =>
      makePlan(
        benchOptions({
          servers: [{ url: new URL('http://127.0.0.1:3000') }],
          userRequests: { requests: [], headers: {}, rows: file, draft: { requests: [again] } },
          connections: [10],
          rounds: 1,
          ...amount,
        }),
        [],
        'here',
        1,
      ),
    ).not.toThrow();
  });

  it('are shared among the trials of a server that keeps its data', () => {
    const plan = planFor({ rounds: 3 });
    const lives = [...plan.trials, { ...plan.trials[0]!, id: 'try1' }].map((planned) =>
      shareOf(plan, planned),
    );
    expect(lives).toEqual([0, 1, 2, 3].map((index) => ({ index, of: 4 })));
    const rows = lives.flatMap((share) => drawOf(plan, share).requests.map(({ body }) => body));
    expect(rows).toHaveLength(1000);
    expect(new Set(rows).size).toBe(1000);
    const { attached: _, ...fresh } = plan;
    expect(shareOf(fresh, plan.trials[0]!)).toBeUndefined();
  });

  it('say how many the run would take, by the pace at which they were used', () => {
    const plan = planFor({ rounds: 1, warmupSeconds: 1, windowSeconds: 4 });
    const { routes } = drawOf(plan);
    const facts = describeUsedUp(plan, plan.trials[0]!, { requests: 489, seconds: 0.5, routes });
    // Two loads of 5 s at 978 requests per second, and 11 requests of the checks; a tenth more, in two digits.
    expect(facts).toEqual({ file, rows: 500, seconds: 0.5, lives: 2, needed: 11_000 });
  });
});
