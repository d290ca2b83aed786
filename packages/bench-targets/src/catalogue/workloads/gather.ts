import { makeFixtures, pathOf } from '@bench/upstream/fixtures';
import { canonicalise, drawGet, USUAL_TIMES, type Params, type Workload } from './workload.ts';

/** The small set: 10 fixtures of about 4.6 kB. `items=1000` makes the large set: 232 kB each. */
const USUAL = { fixtures: 10, items: 20 };

/**
 * `GET /data`: fetches all fixtures from the upstream at once and joins them in their order. The fixtures are the
 * same in every trial; the request count of the upstream proves that the server does not cache them.
 */
export const gather: Workload = {
  name: 'gather',
  rungs: [1, 10, 100],
  ...USUAL_TIMES,
  params: {
    fixtures: { usual: USUAL.fixtures, least: 1, most: 100 },
    items: { usual: USUAL.items, least: 1, most: 10_000 },
  },
  fixtures: makeTexts,
  draw(_random, params) {
    const texts = makeTexts(params);
    const expected = canonicalise(JSON.stringify(texts.flatMap((text) => JSON.parse(text) as unknown[])));
    return {
      ...drawGet('/data', expected),
      files: { BENCH_FIXTURES: JSON.stringify(texts.map((_, fixture) => pathOf(fixture))) },
      fetches: texts.length,
      timing: 'gather',
    };
  },
};

function makeTexts(params: Params): string[] {
  return makeFixtures({ ...USUAL, ...params });
}
