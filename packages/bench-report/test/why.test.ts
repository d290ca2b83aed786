import { describe, expect, it } from 'vitest';
import type { ProfiledSide as Side, WhyFile } from 'bench-model/why';
import { buildFlame, type Flame } from '../src/html/flame.ts';
import { describeMissing, viewWhy } from '../src/why.ts';

/** A side whose functions, in the order of `frames`, have these shares of its CPU. */
function sideOf(target: string, cpuUs: number, shares: number[]): Side {
  const profiles = [0.99, 1, 1.01, 1, 0.99, 1.01].map((pace, round) => ({
    cpuUs: cpuUs * pace,
    profiledUs: cpuUs * pace * 1.04,
    nodes: shares.map((_, node) => node),
    samples: shares.map((share, at) => (share === 0 ? 0 : Math.round(1000 * share) + ((at + round) % 3))),
  }));
  return { target, profiler: 'py-spy 0.4.3', profiles };
}

/** A side without a profiler. */
function bareSide(target: string, threads: number): Side {
  const rest = { perRequest: { threads }, nodes: [], samples: [] };
  return { target, profiles: [200, 201, 199].map((cpuUs) => ({ cpuUs, ...rest })) };
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

describe('the flame graph of a project', () => {
  it('begins at its code, with everything else beside it', () => {
    const frames = WHY.frames.map((frame, index) =>
      index === 1 ? { ...frame, from: 'project' as const } : frame,
    );
    const tree = { parents: [-1, 0, 1, 0], frames: [0, 1, 2, 3] };
    const sides = WHY.sides.map((side) => ({ ...side, lines: [0, 12, 0, 0] }));
    const flame = buildFlame({ ...WHY, frames, tree, sides }, { baseline: 'main', candidate: 'http' });
    const name = ({ name: own, calls }: Flame): unknown =>
      calls.length === 0 ? own : [own, calls.map(name)];
    expect(flame && name(flame)).toEqual([
      'all',
      [
        ['handle:12', ['TaskGroup.start_soon']],
        ['outside of the project', ['anyio', 'asyncio']],
      ],
    ]);
    expect(flame?.calls[0]?.after).toBeCloseTo(0.56 * 360, -1);
  });
});

describe('the explanation of a comparison', () => {
  const [http, asgi, ...others] = viewWhy(WHY);

  it('ranks the packages, and names their functions', () => {
    expect(http?.heading).toBe('http uses 160 µs more CPU per request than main: +80 % (+78 % to +82 %)');
    expect(http?.sentences).toEqual([
      '+158 µs of +160 µs in anyio, among them TaskGroup.start_soon +101, CancelScope.__exit__ +57.7.',
      expect.stringMatching(/^Nothing else differs by more than [\d.]+ µs per request\.$/),
    ]);
  });

  it('says of how many requests it speaks', () => {
    expect(viewWhy({ ...WHY, requests: 2 })[0]?.heading).toMatch(
      /more CPU per request than main: .+, over 2 requests in equal parts$/,
    );
  });

  it('has a row for each package that changed, with its functions, and says what the profiler cost', () => {
    expect(http?.table.groups[0]?.rows.map(([name]) => name)).toEqual([
      '  anyio',
      '    TaskGroup.start_soon',
      '    CancelScope.__exit__',
    ]);
    expect(http?.table.notes.join('\n')).toContain('The profiler changed CPU per request by +4.0 %');
  });

  it('names nothing where nothing changed', () => {
    expect(asgi?.table.groups[0]?.rows).toEqual([]);
    expect(asgi?.sentences).toEqual([
      expect.stringMatching(/^No line and no package changed beyond the noise: none by more than .*\.$/),
    ]);
  });

  it('names the lines of the project first, what they call, and where the code differs', () => {
    const frames = ['emit', 'answer', 'list', 'list', 'structuredClone', 'end'].map((name, index) =>
      [1, 2, 3].includes(index)
        ? { name, file: 'server.js', module: 'server.js', from: 'project' as const }
        : { name, file: 'node:events', module: 'node' },
    );
    const tree = { parents: [-1, 0, 1, 1, 2, 3], frames: [0, 1, 2, 3, 4, 5] };
    const sides = [
      { ...sideOf('main', 200, [0.3, 0.1, 0, 0.2, 0, 0.4]), lines: [0, 14, 0, 10, 0, 0] },
      { ...sideOf('http', 360, [0.17, 0.06, 0, 0.11, 0.35, 0.31]), lines: [0, 14, 8, 10, 0, 0] },
    ];
    const hunks = [{ file: 'server.js', before: 8, removed: 1, after: 8, added: 1 }];
    const pairs = [{ baseline: 'main', candidate: 'http', hunks }];
    const [view] = viewWhy({ ...WHY, frames, tree, sides, pairs });
    expect(view?.sentences).toEqual([
      'server.js:8 list(): +126 µs of +160 µs, of which structuredClone (node) +126 µs.',
      'Also server.js:10 list() (same code) +31 µs.',
      'The code of the two sides differs in server.js:8.',
      expect.stringMatching(/^Nothing else differs by more than [\d.]+ µs per request\.$/),
    ]);
    expect(Number(/than ([\d.]+)/.exec(view?.sentences.at(-1) ?? '')?.[1])).toBeLessThan(31);
    const rows = ['  server.js:14 answer()', '* server.js:8 list()', '    of which structuredClone (node)'];
    expect(view?.table.groups[0]?.rows.map(([place]) => place)).toEqual([...rows, '  server.js:10 list()']);
    // A line of this function may be the one that differs.
    Object.assign(frames[3] ?? {}, { isWhole: true });
    const [again] = viewWhy({ ...WHY, frames, tree, sides, pairs });
    expect(again?.sentences[1]).toBe('Also server.js:10 list() +31 µs.');
  });

  it('leaves out a side that was not measured, with the reason', () => {
    expect(others).toEqual([]);
    expect(describeMissing(WHY)).toEqual(['The functions of lost are not known: no profiler for ruby']);
  });

  it('says what a request takes of sides without a profiler, and nothing of functions', () => {
    const sides = [bareSide('main', 2), bareSide('http', 6)];
    const [view] = viewWhy({ ...WHY, sides });
    expect(view?.sentences).toEqual(['Also changed: threads 2 → 6.']);
    expect(view?.table.groups[0]?.rows).toEqual([]);
    expect(view?.use.groups[0]?.rows).toHaveLength(1);
    expect(buildFlame({ ...WHY, sides }, { baseline: 'main', candidate: 'http' })).toBeUndefined();
  });
});
