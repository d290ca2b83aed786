import { describe, expect, it } from 'vitest';
import { repository } from '../../../src/catalogue/workloads/repository.ts';
import { ID } from '../../../src/catalogue/workloads/workload.ts';
import { createRandom } from 'bench-statistics/random';

function drawOf(seed: number): ReturnType<typeof repository.draw> {
  const random = createRandom(seed);
  return repository.draw(() => random.float(), { ms: 30 });
}

describe('repository', () => {
  const draw = drawOf(1);
  const wrongWith = (index: number, body: object): string | undefined =>
    draw.check(
      { status: 200, contentType: 'application/json', body: Buffer.from(JSON.stringify(body)) },
      index,
    );
  const sent = draw.requests.map(({ body = '' }) => JSON.parse(body) as Record<string, unknown>);

  it('posts to three endpoints in turn with unique ids, and sets the waiting time', () => {
    expect(draw.requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'POST /customers',
      'POST /products',
      'POST /orders',
    ]);
    expect(sent.map(({ id }) => id)).toEqual([ID, ID, ID]);
    expect(draw.env).toEqual({ BENCH_REPOSITORY_MS: '30' });
    expect(repository.waitSeconds?.({ ms: 30 })).toBe(0.03);
  });

  it('accepts only the data that was sent, with fields in any order', () => {
    const [customer = {}, product = {}] = sent;
    expect(wrongWith(0, { saved: 'customer', data: customer })).toBeUndefined();
    expect(wrongWith(1, { data: product, saved: 'product' })).toBeUndefined();
    expect(wrongWith(0, { saved: 'customer', data: product })).toMatch(/^wrong body/);
    expect(wrongWith(0, { saved: 'product', data: customer })).toMatch(/^wrong body/);
    expect(wrongWith(0, { saved: 'customer', data: { ...customer, id: `${ID}0` } })).toMatch(/^wrong body/);
  });

  it('draws different data of the same size for each trial', () => {
    expect(drawOf(1).requests).toEqual(draw.requests);
    const bodies = Array.from({ length: 100 }, (_, seed) => drawOf(seed).requests.map(({ body }) => body));
    expect(new Set(bodies.map(([first]) => first)).size).toBe(100);
    for (const lengths of [0, 1, 2].map((index) => bodies.map((one) => one[index]?.length)))
      expect(new Set(lengths).size).toBe(1);
  });

  it('has three invalid bodies for each endpoint', () => {
    expect(draw.refused).toHaveLength(9);
    for (const { path, body = '' } of draw.refused ?? []) {
      const good = draw.requests.find((request) => request.path === path)?.body;
      expect(body).not.toBe(good);
    }
  });
});
