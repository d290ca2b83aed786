import type { Plan } from 'bench-model/plan';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Answer, Draw } from 'bench-targets/catalogue/workloads/workload';
import { reportWaiting, timeAnswers } from '../../src/conduct/tryout.ts';
import type { Server } from 'bench-machine/launch';
import { benchOptions } from 'bench-model/options';
import { makePlan } from '../../src/plan/plan.ts';
import { readStacks } from 'bench-targets/catalogue/stacks';
import type { Prepared } from 'bench-targets/prepare/prepare';

const stacks = readStacks();
const plan: Plan = {
  ...makePlan(benchOptions({ targets: ['vanilla'] }), stacks, 'here', 1),
  startSeconds: 90,
};
const stack = stacks.find(({ name }) => name === 'vanilla');
const prepared = { stack, variant: { command: ['node', 'server.js'] } } as Prepared;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe('reportWaiting', () => {
  it('describes the wait after 3 seconds, and then only its length', () => {
    const lines: string[] = [];
    const server = {
      host: '127.0.0.1',
      port: 20_001,
      mayIgnorePort: true,
      listensOn: () => [{ address: '0.0.0.0', port: 8000 }],
      logTail: () => ['reading the model', ''],
    };
    using _ = reportWaiting(
      () => ({ server, isLoggingIn: false }),
      { plan, prepared },
      { log: (line) => lines.push(line) },
    );
    vi.advanceTimersByTime(2900);
    expect(lines).toEqual([]);
    vi.advanceTimersByTime(3100);
    expect(lines.map((line) => line.split('\n'))).toEqual([
      [
        'waiting for its first correct response: 3 s of 90 s; it listens on port 8000, not on 20001: pass {port} in the command in packages/vanilla/stack.json, e.g. --port {port}, or let the server read PORT',
        '  command: node server.js',
        expect.stringMatching(/^ {2}folder: .*vanilla$/) as string,
        '  asked:   GET /api/devices',
        '  its last lines:',
        '  | reading the model',
      ],
      [expect.stringMatching(/^waiting for its first correct response: 6 s of 90 s/) as string],
    ]);
  });

  it('says what is wrong with the responses so far', () => {
    const lines: string[] = [];
    const server = {
      host: '127.0.0.1',
      port: 20_001,
      mayIgnorePort: false,
      listensOn: () => [],
      logTail: () => [],
    };
    const awaited = { server, isLoggingIn: false, wrong: 'status 500 instead of 200' };
    using _ = reportWaiting(() => awaited, { plan, prepared }, { log: (line) => lines.push(line) });
    vi.advanceTimersByTime(3000);
    expect(lines[0]).toContain(' 3 s of 90 s; status 500 instead of 200\n');
  });

  it('does not show the log of a server that is logging somebody in: its token cannot be hidden yet', () => {
    const lines: string[] = [];
    const server = {
      host: '127.0.0.1',
      port: 20_001,
      mayIgnorePort: false,
      listensOn: () => [{ address: '127.0.0.1', port: 20_001 }],
      logTail: () => ['token 5180d5fe'],
    };
    const awaited = { server, isLoggingIn: true };
    using _ = reportWaiting(() => awaited, { plan, prepared }, { log: (line) => lines.push(line) });
    vi.advanceTimersByTime(3000);
    expect(lines).toEqual([expect.stringContaining('not shown during the login')]);
    expect(lines.join('\n')).not.toContain('5180d5fe');
  });

  it('says nothing before the server is started, or once it is disposed', () => {
    const lines: string[] = [];
    const waiting = reportWaiting(() => undefined, { plan, prepared }, { log: (line) => lines.push(line) });
    vi.advanceTimersByTime(10_000);
    waiting[Symbol.dispose]();
    vi.advanceTimersByTime(10_000);
    expect(lines).toEqual([]);
  });
});

/** Verifies a server whose responses take this long, in milliseconds, each time that it is asked. */
const timeServer = (method: string, milliseconds: number[]) => {
  const draw = { requests: [{ method }], check: () => undefined } as unknown as Draw;
  const left = [...milliseconds];
  const effects: Parameters<typeof timeAnswers>[0] = {
    async verify(_, watched) {
      const own = left.shift() ?? 0;
      for (let answer = 0; answer < 3; answer++) {
        vi.advanceTimersByTime(own);
        watched.check({} as Answer, 0);
      }
      // The time after the last response is not that of a response.
      vi.advanceTimersByTime(5000);
      return undefined;
    },
  };
  return timeAnswers(effects, [{} as Server, draw, 'before the load'], (seconds) => seconds > 0.1);
};

describe('timeAnswers', () => {
  it('returns the mean time of the responses that verification awaits', async () => {
    expect((await timeServer('GET', [90])).answerSeconds).toBeCloseTo(0.09, 6);
  });

  it('names the slowest of several routes', async () => {
    const routes = ['GET /list', 'GET /stream'].map((name, first) => ({ name, first, count: 1 }));
    const draw = { requests: [{ method: 'GET' }], routes, check: () => undefined } as unknown as Draw;
    const effects: Parameters<typeof timeAnswers>[0] = {
      async verify(_, watched) {
        for (const [index, milliseconds] of [10, 6000].entries()) {
          vi.advanceTimersByTime(milliseconds);
          watched.check({} as Answer, index);
        }
        return undefined;
      },
    };
    const timed = timeAnswers(effects, [{} as Server, draw, 'before the load'], () => false);
    expect(await timed).toMatchObject({ route: 'GET /stream', answerSeconds: 6 });
  });

  it('asks a server again whose first responses are slow, unless it changes what it stores', async () => {
    expect((await timeServer('GET', [400, 200, 50])).answerSeconds).toBeCloseTo(0.05, 6);
    expect((await timeServer('GET', [400, 300, 300, 300, 300])).answerSeconds).toBeCloseTo(0.3, 6);
    expect((await timeServer('POST', [400, 50])).answerSeconds).toBeCloseTo(0.4, 6);
  });
});
