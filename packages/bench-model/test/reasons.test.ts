import { readFileSync, globSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { figureOf } from 'bench-analysis/metrics';
import { METRIC_IDS, METRICS, metricsOf } from '../src/metrics.ts';
import type { Reason } from '../src/reasons.ts';
import { isFatal, makeReason, makesLowerBound, REASON_CODES, type ReasonCode } from '../src/reasons.ts';
import { SCHEMAS } from '../src/schemas.ts';
import { sampleMeasured, suspectTrial } from '../../bench-lab/testing/samples.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

type Facts = { [Code in ReasonCode]: Parameters<typeof makeReason<Code>>[1][] };

const UNANSWERED = { count: 700, sent: 2700, leastUs: 5_012_000, slowestUs: 3100 };
const LATE = { uncertain: [{ metric: 'p99' as const, least: 1200, most: 54_400 }] };
const SATURATED = { coresUsed: 0.95, cores: [1] };
const INSERTS = { acknowledged: 1520, stored: 1500, unanswered: 12 };
const THROWN = [{ message: 'the message of the error' }];
const BACKGROUND = {
  failed: 3,
  ended: 10,
  statuses: [['500', 2]] as [string, number][],
  lost: 1,
};
const PACE = { shape: 'warm-up' as const, least: 2000, most: 3000, milliseconds: 250 };

/** Facts for each sentence of each reason. */
const FACTS: Facts = {
  trial: THROWN,
  upstream: THROWN,
  database: THROWN,
  companion: THROWN,
  defect: THROWN,
  'not-stopped': THROWN,
  'port-held': [{ port: 3000, by: 'process 7 (node)' }],
  'ignored-sigterm': [{ signal: 'SIGTERM', seconds: 5 }],
  'not-verified': [{ problem: 'GET / after the load: no answer in 10 s', inFlight: 3 }],
  'rows-used-up': [
    { file: 'ids.csv', rows: 60_000, seconds: 1.94, lives: 1, needed: 220_000 },
    { file: 'ids.csv', rows: 120, seconds: 0.2, lives: 3, needed: 5900 },
    { file: 'ids.csv', rows: 12, seconds: 0, lives: 1 },
  ],
  'same-code': [{ other: 'shop[./a]', files: 2 }],
  'generators-missing': [
    { planned: 3, missing: [{ host: 'b', why: 'the generator on b failed: it ended' }] },
  ],
  'host-lost': [
    { host: 'b', task: 'complete the round of this trial', why: 'its host was lost' },
    { host: 'b', task: 'keep the upstream running', why: 'its host was lost' },
  ],
  skew: [{ host: 'b', skewMs: -23.4, clockErrorMs: 0.5, allowedSkewMs: 20 }],
  accounting: [
    { sent: 50_011, accounted: 50_010 },
    { sent: 50_011, accounted: 50_010, host: 'b' },
  ],
  'crossed-answers': [{ count: 24 }],
  'wrong-body': [
    { count: 6 },
    { count: 6, first: { seconds: 1.23, bytes: 17, rightBytes: 1200 } },
    { count: 6, first: { seconds: 0, bytes: 120, rightBytes: 120 } },
    { count: 6, first: { seconds: 0, bytes: 120 } },
  ],
  unsolicited: [{ count: 1 }, { count: 12 }],
  'no-answers': [
    { planned: 10, established: 4, seen: [['timeout', 7]] },
    { planned: 10, established: undefined, seen: [] },
  ],
  'memory-grows': [{ estimate: 1430, interval: { low: 998, high: 1502.4 } }],
  'not-all-established': [
    { planned: 10, established: 4, refused: 0 },
    { planned: 10, established: 4, refused: 6 },
  ],
  errors: [
    {
      share: 0.004,
      kinds: [
        ['non2xx', 8],
        ['reset', 1],
      ],
    },
  ],
  little: [
    { served: 4, planned: 10, silent: 6 },
    { served: 14, planned: 10, silent: 0 },
    { served: 4, planned: 10, silent: 6, host: 'b' },
    { served: 0.412, open: 450.3 },
  ],
  pairing: [{ meanUs: 2000, cycleUs: 1000 }],
  'late-reads': [LATE],
  'late-tail': [LATE],
  'cores-changed': [{ placed: [1], found: [0, 2] }],
  'late-sample': [{ seconds: 2.8, windowSeconds: 1 }],
  'late-starts': [LATE],
  'late-starts-tail': [LATE],
  overrun: [{ offered: 5000, served: 4100.3 }],
  'promise-kept': [{ perSecond: 4100, busy: 0.83, reach: 4300 }],
  'promise-broken': [{ promise: 'p99 < 50 ms', perSecond: 12.4, brokenShare: 0.034 }],
  'promise-rarely-kept': [{ promise: 'p99 < 50 ms', kept: 1, loads: 24 }],
  'few-answers': [{ promise: 'p99.9 < 50 ms', answers: 4200, needed: 10_000, deviation: 0.1 }],
  stall: [
    { count: 10, aboveUs: 1e6, slowestUs: 3_012_000, tail: 'p99', tailUs: 570 },
    { count: 1, aboveUs: 100_000, slowestUs: 280_400, tail: 'p97_5', tailUs: 1200 },
  ],
  unanswered: [UNANSWERED],
  'few-unanswered': [{ ...UNANSWERED, count: 2 }],
  'generator-bound': [
    { busy: 0.92, coresUsed: 0.5 },
    { busy: 0.92, coresUsed: undefined },
    { busy: 0.92, coresUsed: 0.5, host: 'b' },
  ],
  'upstream-bound': [SATURATED, { ...SATURATED, cores: undefined }],
  'database-bound': [SATURATED],
  'upstream-count': [
    { ok: 50_000, fetches: 10, requests: 20, isShort: true },
    { ok: 50_000, fetches: 10, requests: 1_000_000, isShort: false },
  ],
  'upstream-failed': [{ count: 3 }],
  'upstream-slow': [{ fetchUs: 203_400 }],
  'inserts-lost': [INSERTS],
  'inserts-unacknowledged': [INSERTS, { ...INSERTS, unanswered: 0 }],
  inserts: [INSERTS],
  'background-failed': [BACKGROUND],
  background: [BACKGROUND],
  compiling: [{ share: 0.124, seconds: 40.1 }],
  'serial-collector': [undefined],
  'not-level': [{ change: 1.2 }],
  'ratio-trend': [{ other: 'fastify', change: 0.81 }],
  trend: [PACE, { ...PACE, shape: 'slowdown' }],
  unsteady: [{ ...PACE, shape: 'erratic' }],
  'delayed-ack': [
    { keptUs: 43_900, freshUs: 1400 },
    { keptUs: 43_900, freshUs: 1400, command: 'python -m uvicorn app:app --workers 2' },
    { keptUs: 43_900, freshUs: 1400, command: '/usr/bin/java -jar shop.jar' },
  ],
  watcher: [{ watcher: 'uvicorn --reload' }],
  'server-unknown': [{ cores: 1.9 }],
  'other-processes': [{ cores: 0.184 }],
  steal: [{ cores: 0.25 }],
  'listen-overflows': [{ count: 3 }],
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
      'upstream',
      'database',
      'companion',
      'defect',
      'not-stopped',
      'port-held',
      'same-code',
      'rows-used-up',
      'accounting',
      'generators-missing',
      'host-lost',
      'skew',
      'crossed-answers',
      'wrong-body',
      'unsolicited',
      'no-answers',
      'upstream-count',
      'inserts-lost',
      'inserts-unacknowledged',
      'background-failed',
    ]);
    expect(makeReason('wrong-body', { count: 1 }).invalidates).toEqual(METRIC_IDS);
  });

  it('says which reasons leave a lower bound, and of which metric', () => {
    const bounds = REASON_CODES.flatMap((code) =>
      METRIC_IDS.filter((id) => makesLowerBound({ code, text: '', invalidates: [] }, id)).map(
        (id) => `${code} ${id}`,
      ),
    );
    expect(bounds).toEqual([
      'generator-bound goodput',
      'promise-kept capacity',
      'upstream-bound goodput',
      'database-bound goodput',
    ]);
    const bound = makeReason('database-bound', { coresUsed: 1, cores: [1] });
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
