import { describe, expect, it } from 'vitest';
import type { Profile, ProfiledSide as Side, WhyFile } from 'bench-model/why';
import { buildFlame, type Flame } from '../src/html/flame.ts';
import { describeMissing, describeExplanation, toSpeedscope, viewWhy } from '../src/why.ts';

/** A profile of functions in the order of `frames`, each called by the first one. */
function profile(cpuUs: number, samples: number[]): Profile {
  const seen = samples.flatMap((count, node) => (count > 0 ? [{ node, count }] : []));
  return {
    cpuUs,
    profiledUs: cpuUs * 1.04,
    nodes: seen.map(({ node }) => node),
    samples: seen.map(({ count }) => count),
  };
}

function sideOf(target: string, cpuUs: number, shares: number[]): WhyFile['sides'][number] {
  const profiles = [0.99, 1, 1.01, 1, 0.99, 1.01].map((pace, round) =>
    profile(
      cpuUs * pace,
      shares.map((share, at) => (share === 0 ? 0 : Math.round(1000 * share) + ((at + round) % 3))),
    ),
  );
  return { target, profiler: 'py-spy 0.4.3', profiles };
}

/** A side without a profiler. */
function bareSide(target: string, waits: number): Side {
  const profiles = [200, 201, 199].map((cpuUs) => ({
    cpuUs,
    perRequest: { userUs: cpuUs - 40, systemUs: 40, faults: 0, waits },
    nodes: [],
    samples: [],
  }));
  return { target, profiles };
}

const WHY: WhyFile = {
  schema: 1,
  run: 'a-run',
  connections: 10,
  seconds: 3,
  pairs: [
    { baseline: 'main', candidate: 'http' },
    { baseline: 'main', candidate: 'asgi' },
    { baseline: 'main', candidate: 'lost' },
  ],
  frames: [
    { name: 'run', file: 'asyncio/runners.py', module: 'asyncio' },
    { name: 'handle', file: 'app.py', module: 'app.py' },
    { name: 'TaskGroup.start_soon', file: 'anyio/_backends/_asyncio.py', module: 'anyio' },
    { name: 'CancelScope.__exit__', file: 'anyio/_backends/_asyncio.py', module: 'anyio' },
  ],
  tree: { parents: [-1, 0, 0, 0], frames: [0, 1, 2, 3] },
  sides: [
    sideOf('main', 200, [0.5, 0.5, 0, 0]),
    sideOf('http', 360, [0.28, 0.28, 0.28, 0.16]),
    sideOf('asgi', 201, [0.5, 0.5, 0, 0]),
  ],
  missing: [{ target: 'lost', reason: 'no profiler for ruby' }],
};

describe('the flame graph of a comparison', () => {
  it('has the ratio of the rounds, as the table does', () => {
    const times = { estimate: 1.5, low: 1.48, high: 1.52 };
    const [first, ...others] = WHY.pairs as [WhyFile['pairs'][number], ...WhyFile['pairs']];
    const flameOf = (pairs: WhyFile['pairs']): Flame => buildFlame({ ...WHY, pairs }, first) as Flame;
    const { before, after } = flameOf([{ ...first, times }, ...others]);
    expect(after / before).toBeCloseTo(1.5);
    const plain = flameOf(WHY.pairs);
    expect(plain.after / plain.before).toBeCloseTo(1.8);
    expect(after * before).toBeCloseTo(plain.after * plain.before);
  });
});

describe('the explanation of a comparison', () => {
  const [http, asgi, ...others] = viewWhy(WHY);

  it('ranks the packages, and names their functions', () => {
    expect(http && describeExplanation(http)).toEqual([
      expect.stringMatching(
        /^http uses 160 µs \(\+80 %; 95 % interval: \+1\d\d to \+1\d\d µs\) more CPU per request than main$/,
      ),
      '  158 of 160 µs are in anyio, among them TaskGroup.start_soon +101, CancelScope.__exit__ +57.7.',
      expect.stringMatching(
        /^ {2}No other package or function changed by more than [\d.]+ µs \([\d.]+ %\)\.$/,
      ),
    ]);
  });

  it('says of how many requests it speaks', () => {
    expect(viewWhy({ ...WHY, requests: 2 })[0]?.heading).toMatch(
      /more CPU per request than main, over 2 requests in equal parts$/,
    );
  });

  it('has a row for each function that changed, and says what the profiler cost', () => {
    expect(http?.table.groups[0]?.rows.map(([name, file]) => [name, file])).toEqual([
      ['TaskGroup.start_soon', 'anyio/_backends/_asyncio.py (anyio)'],
      ['CancelScope.__exit__', 'anyio/_backends/_asyncio.py (anyio)'],
    ]);
    expect(http?.table.notes.join('\n')).toContain('The profiler changed CPU per request by +4.0 %');
  });

  it('names nothing where nothing changed', () => {
    expect(asgi?.table.groups[0]?.rows).toEqual([]);
    expect(asgi?.sentences).toEqual([
      expect.stringMatching(/^No function changed beyond the noise\. None changed by more than .*\.$/),
    ]);
  });

  it('names a delayed acknowledgement that only one side waits for', () => {
    const delayed = 'the body of an answer follows 43.2 ms after its head. Set TCP_NODELAY';
    const [main, held, ...rest] = WHY.sides as [Side, Side, Side];
    const sides = [main, { ...held, delayed }, ...rest];
    expect(viewWhy({ ...WHY, sides })[0]?.sentences[0]).toBe(`http: ${delayed}.`);
    const both = sides.map((side) => ({ ...side, delayed }));
    expect(viewWhy({ ...WHY, sides: both })[0]?.sentences[0]).not.toContain(delayed);
  });

  it('leaves out a side that was not measured, with the reason', () => {
    expect(others).toEqual([]);
    expect(describeMissing(WHY)).toEqual(['the functions of lost are not known: no profiler for ruby']);
  });

  it('says what a request takes of sides without a profiler, and nothing of functions', () => {
    const sides = [bareSide('main', 2), bareSide('http', 6)];
    const [view] = viewWhy({ ...WHY, sides });
    expect(view?.sentences).toEqual(['Each request takes 6.00 waits of a thread instead of 2.00.']);
    expect(view?.table.groups[0]?.rows).toEqual([]);
    expect(view?.use.groups[0]?.rows).toHaveLength(3);
    expect(buildFlame({ ...WHY, sides }, { baseline: 'main', candidate: 'http' })).toBeUndefined();
  });
});

describe('the speedscope file', () => {
  it('weighs stacks by CPU per request', () => {
    const [main] = WHY.sides;
    const file =
      main && (toSpeedscope(WHY, main) as { profiles: [{ samples: number[][]; endValue: number }] });
    expect(file?.profiles[0].samples).toEqual([[0], [0, 1]]);
    expect(file?.profiles[0].endValue).toBeCloseTo(200, 5);
  });
});
