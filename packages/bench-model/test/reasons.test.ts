import { readFileSync, globSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { figureOf } from 'bench-analysis/metrics';
import { METRIC_IDS, METRICS, metricsOf } from '../src/metrics.ts';
import type { Reason } from '../src/reasons.ts';
import {
  isFatal,
  isFinding,
  makeReason,
  makesLowerBound,
  REASON_CODES,
  type ReasonCode,
} from '../src/reasons.ts';
import { SCHEMAS } from '../src/schemas.ts';
import { sampleMeasured, suspectTrial } from '../../bench-lab/testing/samples.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

type Facts = { [Code in ReasonCode]: Parameters<typeof makeReason<Code>>[1][] };

const UNANSWERED = { count: 700, sent: 2700, leastUs: 5_012_000, slowestUs: 3100 };
const LATE = { metric: 'p99' as const, least: 1200, most: 54_400 };
const SATURATED = { name: 'upstream' as const, coresUsed: 0.95, cores: [1] };
const INSERTS = { acknowledged: 1520, stored: 1500, unanswered: 12 };
const THROWN = [{ message: 'the message of the error' }];
const BACKGROUND = {
  failed: 3,
  ended: 10,
  kinds: [
    ['with status 500', 2],
    ['without a response', 1],
  ] as [string, number][],
};
const RIGHT = { bodies: 0, crossed: 0, unsolicited: 0 };
const PACE = { shape: 'warm-up' as const, least: 2000, most: 3000, milliseconds: 250 };

/** Facts for each sentence of each reason. */
const FACTS: Facts = {
  trial: THROWN,
  companion: THROWN,
  defect: THROWN,
  'not-stopped': THROWN,
  'ignored-sigterm': [{ signal: 'SIGTERM', seconds: 5 }],
  'not-verified': [{ problem: 'GET / after the load: no response in 10 s', inFlight: 3 }],
  'rows-used-up': [
    { file: 'ids.csv', rows: 60_000, seconds: 1.94, lives: 1, needed: 220_000 },
    { file: 'ids.csv', rows: 120, seconds: 0.2, lives: 3, needed: 5900 },
    { file: 'ids.csv', rows: 12, seconds: 0, lives: 1 },
  ],
  'host-lost': [
    { lost: [{ host: 'b', why: 'its host was lost' }], task: 'complete the round of this trial' },
    {
      lost: [
        { host: 'b', why: 'the generator on b failed: it ended' },
        { host: 'c', why: 'its host was lost' },
      ],
      task: 'report what one of its 3 generators sent',
    },
  ],
  'wrong-answers': [
    { ...RIGHT, bodies: 6 },
    { ...RIGHT, bodies: 6, first: { seconds: 1.23, bytes: 17, rightBytes: 1200 } },
    { ...RIGHT, bodies: 6, first: { seconds: 0, bytes: 120, rightBytes: 120 } },
    { ...RIGHT, bodies: 6, first: { seconds: 0, bytes: 120 } },
    { ...RIGHT, unsolicited: 1 },
    { bodies: 6, crossed: 24, unsolicited: 12 },
  ],
  'no-answers': [
    { planned: 10, established: 4, seen: [['timeout', 7]] },
    { planned: 10, established: undefined, seen: [] },
  ],
  'memory-grows': [{ estimate: 1430, interval: { low: 998, high: 1502.4 } }],
  connections: [
    { planned: 10, established: 4, refused: 0 },
    { planned: 10, established: 4, refused: 6, overflows: 6 },
    { planned: 10, served: 6, silent: 0 },
    { planned: 10, served: 4, silent: 6, host: 'b' },
    { planned: 10, overflows: 3 },
  ],
  errors: [
    {
      share: 0.004,
      kinds: [
        ['non2xx', 8],
        ['reset', 1],
      ],
    },
    { share: 0.3, kinds: BACKGROUND.kinds, what: 'background requests' },
  ],
  little: [
    { served: 14, planned: 10 },
    { served: 14, planned: 10, host: 'b' },
    { meanUs: 2000, cycleUs: 1000 },
    { served: 0.412, open: 450.3 },
  ],
  'late-generator': [
    { reads: [LATE], starts: [] },
    { reads: [], starts: [LATE] },
    { reads: [LATE], starts: [{ ...LATE, metric: 'p50' }, LATE] },
  ],
  'cores-changed': [{ placed: [1], found: [0, 2] }],
  'late-sample': [{ seconds: 2.8, windowSeconds: 1 }],
  overrun: [{ offered: 5000, served: 4100.3 }],
  'slo-met': [{ perSecond: 4100, busy: 0.83, reach: 4300 }],
  'slo-violated': [{ promise: 'p99 < 50 ms', perSecond: 12.4, brokenShare: 0.034 }],
  'slo-rarely-met': [{ promise: 'p99 < 50 ms', kept: 1, loads: 24 }],
  'few-answers': [{ promise: 'p99.9 < 50 ms', answers: 4200, needed: 10_000, deviation: 0.1 }],
  stall: [
    { count: 10, aboveUs: 1e6, slowestUs: 3_012_000, tail: 'p99', tailUs: 570 },
    { count: 1, aboveUs: 100_000, slowestUs: 280_400, tail: 'p97_5', tailUs: 1200 },
  ],
  unanswered: [UNANSWERED, { ...UNANSWERED, count: 2 }],
  'generator-bound': [
    { busy: 0.92, coresUsed: 0.5 },
    { busy: 0.92, coresUsed: undefined },
    { busy: 0.92, coresUsed: 0.5, host: 'b' },
  ],
  'companion-bound': [SATURATED, { ...SATURATED, name: 'database', cores: undefined }],
  'upstream-count': [
    { ok: 50_000, fetches: 10, requests: 20, isShort: true },
    { ok: 50_000, fetches: 10, requests: 1_000_000, isShort: false },
  ],
  inserts: [INSERTS, { ...INSERTS, stored: 1523 }, { ...INSERTS, stored: 1523, unanswered: 0 }],
  background: [BACKGROUND],
  compiling: [{ share: 0.124, seconds: 40.1 }],
  'serial-collector': [undefined],
  'ratio-trend': [
    { change: 1.2, when: 'after the warm-up' },
    { other: 'fastify', change: 0.81, when: 'in the window' },
  ],
  unsteady: [PACE, { ...PACE, shape: 'slowdown' }, { ...PACE, shape: 'erratic' }],
  'delayed-ack': [
    { keptUs: 43_900, freshUs: 1400 },
    { keptUs: 43_900, freshUs: 1400, command: 'python -m uvicorn app:app --workers 2' },
    { keptUs: 43_900, freshUs: 1400, command: '/usr/bin/java -jar shop.jar' },
  ],
  watcher: [{ watcher: 'uvicorn --reload' }],
  'other-processes': [{ cores: 0.184 }],
  steal: [{ cores: 0.25 }],
  retransmits: [{ count: 364, sent: 80_782 }],
  throttled: [{ count: 3 }],
};

describe('the table of reasons', () => {
  it('has the sentences of the golden file', async () => {
    const lines = REASON_CODES.flatMap((code) =>
      FACTS[code].map((facts) => `${code}: ${makeReason(code, facts as never).text}\n`),
    );
    await expect(lines.join('')).toMatchFileSnapshot('fixtures/golden/reasons.txt');
  });

  it('matches the schema of records', () => {
    const { definitions } = SCHEMAS.record as { definitions: { reason: object } };
    expect(definitions.reason).toMatchObject({ properties: { code: { enum: REASON_CODES } } });
  });

  it('gives the code, the text and the invalid metrics', () => {
    expect(makeReason('steal', { cores: 0.25, coresUsed: 0.5 })).toEqual({
      bounds: { capacity: { low: 1, high: 1.5 }, cpu: { low: 0.5, high: 1 }, goodput: { low: 1, high: 1.5 } },
      code: 'steal',
      text: 'the hypervisor took 25 % of a core',
      invalidates: metricsOf('pace', 'cpu', 'capacity'),
    });
  });

  it('says which reasons are fatal: those that leave no valid metric', () => {
    const reasons = REASON_CODES.map((code): Reason => ({ code, text: 'seen', invalidates: [] }));
    expect(reasons.filter(isFatal).map(({ code }) => code)).toEqual([
      'trial',
      'companion',
      'defect',
      'not-stopped',
      'rows-used-up',
      'host-lost',
      'wrong-answers',
      'no-answers',
      'upstream-count',
      'inserts',
      'background',
    ]);
    expect(makeReason('wrong-answers', { ...RIGHT, bodies: 1 }).invalidates).toEqual(METRIC_IDS);
  });

  it('takes no figure away by a finding, and at least one by a disturbance', () => {
    for (const code of REASON_CODES)
      for (const facts of FACTS[code]) {
        const reason = makeReason(code, facts as never);
        expect([code, isFinding(reason)]).toEqual([
          code,
          reason.invalidates.length === 0 && reason.bounds === undefined,
        ]);
      }
  });

  it('says which reasons leave a lower bound, and of which metric', () => {
    const bounds = REASON_CODES.flatMap((code) =>
      METRIC_IDS.filter((id) => makesLowerBound(makeReason(code, FACTS[code][0] as never), id)).map(
        (id) => `${code} ${id}`,
      ),
    );
    expect(bounds).toEqual([
      'generator-bound goodput',
      'companion-bound goodput',
      'slo-met capacity',
      // Without the CPU of the server, nothing says how much more it could have done.
      'other-processes capacity',
      'other-processes goodput',
      'steal capacity',
      'steal goodput',
    ]);
    const bound = makeReason('companion-bound', { name: 'database', coresUsed: 1, cores: [1] });
    const trial = suspectTrial('fastify', sampleMeasured(), [bound]);
    expect(figureOf(trial, METRICS.goodput)).toMatchObject({ valid: false, atLeast: true });
    expect(figureOf(trial, METRICS.p50)).toMatchObject({ valid: false, atLeast: false });
  });

  it('is the only file that creates reasons', () => {
    const made = globSync('packages/bench*/src/**/*.ts', { cwd: ROOT }).filter(
      (file) =>
        file !== 'packages/bench-model/src/reasons.ts' &&
        /\binvalidates: \[/.test(readFileSync(join(ROOT, file), 'utf8')),
    );
    expect(made).toEqual([]);
  });
});
