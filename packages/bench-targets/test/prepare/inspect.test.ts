import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Stack } from 'bench-model/stack';
import { readStacks, targetsOf } from '../../src/catalogue/stacks.ts';
import { groupMissing, reportProgress } from '../../src/prepare/prepare.ts';
import { describeWork, surveyWork } from '../../src/prepare/inspect.ts';
import { sampleStack, sampleTarget } from '../../../bench-lab/testing/samples.ts';

const printed = vi.hoisted(() => vi.fn<() => string | undefined>());
vi.mock('bench-machine/subprocess', async (importOriginal) => ({
  ...(await importOriginal<object>()),
  lastPrinted: printed,
}));

describe('the announced work', () => {
  it('is listed with its tools and the estimated time', () => {
    expect(
      describeWork([
        { kind: 'tool', name: 'uv', by: 'pip', seconds: 10 },
        { kind: 'environment', name: 'fastapi', by: 'uv', seconds: 5 },
        { kind: 'environment', name: 'litestar', by: 'uv', seconds: 5 },
        { kind: 'build', name: 'gin', by: 'go 1.26.8', seconds: 45 },
        { kind: 'build', name: 'actix', by: 'cargo 1.90.0', seconds: 120 },
        { kind: 'build', name: 'rocket', by: 'cargo 1.90.0', seconds: 120 },
      ]),
    ).toEqual([
      'To build first, once: about 6 minutes.',
      '  with pip: uv',
      '  with uv: fastapi, litestar',
      '  with go 1.26.8: gin',
      '  with cargo 1.90.0: actix, rocket',
    ]);
  });

  it.each([
    [5, '10 seconds'],
    [55, '60 seconds'],
    [60, '1 minute'],
    [61, '2 minutes'],
  ])('rounds %d seconds up to %s', (seconds, words) => {
    const [first] = describeWork([{ kind: 'tool', name: 'uv', by: 'pip', seconds }]);
    expect(first).toBe(`To build first, once: about ${words}.`);
  });

  it('is empty if there is nothing to build', () => {
    expect(describeWork([])).toEqual([]);
  });

  it('lists a compiled stack once for all variants, and omits one whose tool is missing', async () => {
    const command = ['{build}/none', '{port}'];
    const compiled = (name: string, tool: string): Stack => ({
      ...sampleStack(name, { one: { command }, two: { command } }),
      runtime: 'none',
      build: [[tool, 'build']],
      root: import.meta.dirname,
    });
    const stacks = [compiled('built', 'node'), compiled('toolless', 'no-such-tool')];
    const work = await surveyWork(stacks.flatMap(targetsOf), stacks);
    expect(work).toEqual([
      { kind: 'build', name: 'built', by: expect.stringMatching(/^node \d/) as string, seconds: 30 },
    ]);
  });
});

it('is not announced for a Python that the stack refuses', async () => {
  const stacks = readStacks().filter(({ name }) => name === 'fastapi');
  const [target] = stacks.flatMap(targetsOf);
  if (target === undefined) throw new Error('no target');
  const runtime = { kind: 'python' as const, spec: '3.9' };
  expect(await surveyWork([{ ...target, runtime }], stacks)).toEqual([]);
});

describe('a long preparation', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('reports progress every 20 s until it ends', () => {
    const said: string[] = [];
    const still = reportProgress('preparing rocket', (line) => said.push(line));
    vi.advanceTimersByTime(45_000);
    still[Symbol.dispose]();
    vi.advanceTimersByTime(60_000);
    expect(said).toEqual(['still preparing rocket: 20 s so far', 'still preparing rocket: 40 s so far']);
  });

  it('shows the last line of its tool each second where that can be replaced', () => {
    printed.mockReturnValueOnce(undefined).mockReturnValue('Compiling fuel v1.0');
    const showLive = vi.fn<(text: string) => void>();
    using _ = reportProgress(
      'preparing rocket',
      Object.assign(() => {}, { showLive }),
    );
    vi.advanceTimersByTime(2500);
    expect(showLive.mock.calls.flat()).toEqual([
      'still preparing rocket: 1 s so far',
      'still preparing rocket: 2 s so far: Compiling fuel v1.0',
    ]);
  });
});

describe('targets that are missing', () => {
  it('are grouped by reason', () => {
    const missing = ['fastapi', 'gin', 'litestar'].map((name) => ({
      target: sampleTarget(name),
      reason: name === 'gin' ? 'go is not on PATH' : 'uv cannot reach its registry',
      hint: '',
    }));
    expect(groupMissing(missing)).toEqual([
      { targets: ['fastapi', 'litestar'], reason: 'uv cannot reach its registry', hint: '' },
      { targets: ['gin'], reason: 'go is not on PATH', hint: '' },
    ]);
  });
});
