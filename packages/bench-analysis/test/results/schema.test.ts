import { readFileSync } from 'node:fs';
import { Ajv, type ValidateFunction } from 'ajv';
import standalone from 'ajv/dist/standalone/index.js';
import { beforeAll, describe, expect, it } from 'vitest';
import type { DatabaseUse, UpstreamUse } from 'bench-model/companions';
import type {
  Age,
  Alone,
  FoundCapacity,
  OpenLoop,
  HostWindow,
  Measured,
  Step,
  Turns,
} from 'bench-model/measured';
import type { Promised } from 'bench-model/promise';
import type { FailedTrial, SuspectTrial, TimeReport } from 'bench-model/record';
import type { LoadResult } from 'bench-model/load';
import type { Interpreter } from 'bench-model/target';
import type { LatencyUs, Resources } from 'bench-model/figures';
import type { Plan } from 'bench-model/plan';
import { RECORD_SCHEMA, RUN_SCHEMA, WHY_SCHEMA } from 'bench-model/versions';
import type { RunFile } from 'bench-model/run';
import type { Host } from 'bench-model/host';
import {
  sampleTarget,
  asStored,
  failedTrial,
  okTrial,
  readFixture,
  readGoldenRun,
  sampleBackground,
  sampleCounts,
  sampleLoad,
  sampleMeasured,
  sampleTurns,
  sampleTold,
} from '../../../bench-lab/testing/samples.ts';
import { SCHEMAS } from 'bench-model/schemas';
import { figuresOf, openObjects, pathsOf } from './walk.ts';

const ajv = new Ajv({ allErrors: true, allowUnionTypes: true });
// The definitions, not the shipped files: these are rewritten when a new schema is accepted.
const isRecord = ajv.compile(SCHEMAS.record);
const isRun = ajv.compile(SCHEMAS.run);
const isHost = ajv.compile(SCHEMAS.host);

function wrongWith(isValid: ValidateFunction, value: unknown): string[] {
  isValid(value);
  return (isValid.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
}

type Json = Record<string, unknown>;

/** Returns a copy with one field (`a.b.c`) set, or removed if `field` is undefined. */
function withField(value: Json, path: string, field: unknown): Json {
  const copy = structuredClone(value);
  const keys = path.split('.');
  const last = keys.pop() ?? '';
  const parent = keys.reduce((object, key) => object[key] as Json, copy);
  if (field === undefined) delete parent[last];
  else parent[last] = field;
  return copy;
}

// `Required` demands every optional field: a new field must be added here, and therefore to the schema.
const latency: Required<LatencyUs> = {
  mean: 1,
  p50: 1,
  p75: 1,
  p90: 1,
  p97_5: 1,
  p99: 1,
  p99_9: 1,
  max: 1,
  atLeast: ['p99'],
};
const load = {
  ...sampleLoad({ latencyUs: latency, latencyHistogram: 'HISTFAAA', bodyBytes: 541 }),
  latencyAtLeastUs: latency,
  idleCloses: { count: 1, sentAgain: 1, leastSeconds: 2, mostSeconds: 2.1 },
  unsolicited: 0,
  firstWrong: { seconds: 1.2, bytes: 17, rightBytes: 120 },
  crossed: 0,
  cluster: {
    planned: 2,
    hosts: [{ name: 'b', cpuModel: 'EPYC', cores: 4, release: '6.1', offsetMs: -3.2, clockErrorMs: 0.4 }],
    parts: [
      {
        host: 'b',
        connections: 5,
        established: 5,
        counts: sampleCounts({ ok: 1 }),
        goodputPerSecond: 1,
        completionsPerSecond: 1,
        meanCycleUs: 10,
        silentConnections: 0,
        skewMs: -0.3,
      },
    ],
    missing: [{ host: 'c', why: 'its host was lost' }],
    overlapSeconds: 4.99,
    allowedSkewMs: 20,
  },
  warmup: { milliseconds: 50, ok: [0, 12], answers: 22 },
  routes: [{ counts: sampleCounts(), lifetime: sampleCounts(), latencyUs: latency }],
  schedule: { intended: 100, late: 1, dropped: 0 },
  timing: { metric: 'gather', toldUs: latency, restUs: latency },
} as Required<LoadResult>;
const server: Required<Resources> = {
  source: 'cgroup v2',
  scope: 'process tree',
  seconds: 5,
  cpuUserUs: 1,
  cpuSystemUs: 1,
  coresUsed: 0.5,
  idleBytes: 1,
  loadedBytes: 1,
  peakBytes: 1,
  contextSwitches: 1,
  processes: 1,
  turnover: { began: 1, ended: 1 },
  busiest: [{ pid: 4711, cores: 0.5, threads: [0.4, 0.1] }],
  memoryOverTime: [{ seconds: 1, bytes: 1 }],
};
const host: Required<HostWindow> = {
  otherProcessesCores: 0,
  stealCores: 0,
  listenOverflows: 0,
  lostSegments: 0,
  sentSegments: 0,
  throttled: 0,
  harnessCores: 0,
};
const openLoop: Required<OpenLoop> = {
  perSecond: 400,
  seconds: 2.5,
  servedPerSecond: 399.1,
  p50Us: 1,
  p99Us: 1,
  p99_9Us: 1,
  maxUs: 1,
  failedShare: 0,
  cpuUsPerRequest: 1,
  limit: 'server',
  generatorBusy: 0.3,
};
const step: Required<Step> = { ...openLoop, requests: 798, brokenShare: 0.008 };
const measured: Required<Measured> = {
  load,
  control: {
    turns: { plainUs: 40, plantedUs: 40.4, burntUs: 0.4 },
    between: { plainUs: -0.1, plantedUs: 0.3, burntUs: 0.4 },
  },
  server,
  companions: {
    background: { ...sampleBackground(), durationUs: latency },
    upstream: { requests: 500_000, fetchUs: 900, resources: server } satisfies Required<UpstreamUse>,
    database: {
      inserts: { acknowledged: 1, stored: 1, unanswered: 0 },
      resources: server,
    } satisfies Required<DatabaseUse>,
  },
  cpuUsPerRequest: 1,
  contextSwitchesPerRequest: 1,
  limit: 'server',
  budget: { by: 'threads', usedCores: 0.97, usableCores: 1 },
  shape: 'flat',
  capacity: {
    perSecond: 412.3,
    bound: 'at least',
    by: { of: 'errors', belowUs: 50_000, belowShare: 0.001 } satisfies Required<Promised>,
    pacePerSecond: 500,
    steps: [step],
  } satisfies Required<FoundCapacity>,
  curve: [{ share: 0.5, ...openLoop }],
  host,
  startupSeconds: 0.1,
  age: {
    secondsSinceStart: 2.4,
    answers: 41_000,
    collected: 1,
  } satisfies Required<Age>,
  alone: { freshUs: 1400, keptUs: 44_600, bodyUs: 43_400 } satisfies Required<Alone>,
  turns: {
    answers: [820, 0],
    cpuUs: [19_800, 0],
    restsCpuUs: 140,
    upkeepUsPerSecond: 90,
    deferred: 0.004,
    goodputPerSecond: [41_000, 0],
    memoryBytes: [1e8, 1.1e8],
    places: [0, 3],
  } satisfies Required<Turns>,
};
const time: Required<TimeReport> = {
  format: 'bsd',
  elapsedSeconds: 1,
  userSeconds: 1,
  systemSeconds: 1,
  maxResidentBytes: 1,
  minorFaults: 1,
  majorFaults: 1,
  voluntarySwitches: 1,
  involuntarySwitches: 1,
  fileInputs: 1,
  fileOutputs: 1,
  messagesSent: 1,
  messagesReceived: 1,
  signalsReceived: 1,
  instructions: 1,
  cycles: 1,
  peakFootprintBytes: 1,
  exitStatus: 0,
  terminatedBySignal: 15,
};
const head = {
  ...okTrial('fastify', measured),
  target: {
    ...sampleTarget('fastify'),
    packages: ['fastify@5'],
    repeats: { targetId: 'fastify', kind: 'a/a' },
  },
  requests: {
    requests: [
      {
        method: 'POST',
        path: '/orders',
        weight: 2,
        headers: ['accept'],
        bodySha256: 'a'.repeat(64),
        expectSha256: 'a'.repeat(64),
        check: 'bytes',
      },
    ],
    rows: { sha256: 'a'.repeat(64), count: 3, used: 3, checked: 3 },
    login: 'POST /login',
  },
  code: { from: './copy', files: 3, sha256: 'a'.repeat(64) },
  process: {
    pid: 4711,
    executable: '/usr/bin/node',
    version: 'v26.10.0',
    command: ['node', 'server.js'],
    cores: [0, 1],
  },
  interpreter: {
    implementation: 'CPython',
    version: '3.14.6',
    maker: 'pyenv',
    compiler: 'Clang 22.1.3',
    optimisation: '-O3',
    pgo: true,
    lto: true,
    bolt: true,
    tailCalls: true,
    pointerCompression: false,
    assertions: false,
    debug: false,
  } satisfies Required<Interpreter>,
  duel: 'c10-r1',
  life: 'c10-r1 fastify',
  route: 'GET /orders',
  host: 'b',
  runtime: { kind: 'node', spec: '26', version: '26.10.0', build: { v8: '14' } },
  attested: [{ mypyc: true, loop: 'uvloop', pid: 1, jit: null }],
  quick: true,
  driver: { name: 'autocannon', version: '1' },
  load: { mode: 'open', perSecond: 2000 },
  params: { n: 20 },
  threads: 2,
  cores: 2,
  companions: {
    background: { method: 'GET', path: '/fib/42' },
    upstream: { kind: 'nginx', version: '1.22.1' },
    database: { kind: 'embedded', version: '18.4', maxConnections: 500 },
  },
  placement: { kind: 'separate', server: [1], generator: [0], beside: { upstream: [0], database: [0] } },
  time,
  files: ['logs/001.log'],
  logTail: ['listening'],
  reasons: [{ code: 'errors', text: '1 % of the requests failed', invalidates: ['p99'] }],
} as const;
const suspect = { ...head, status: 'suspect' } as unknown as Required<SuspectTrial>;
const toldTrial = okTrial('fastify', { ...measured, load: sampleTold({ counts: { ok: 1, failed: 1 } }) });
const { measured: _, ...unmeasured } = head;
const failed = { ...unmeasured, status: 'failed', partial: measured } as unknown as Required<FailedTrial>;
const plan: Required<Plan> = {
  ...sampleTurns('--rounds 2'),
  targets: [head.target] as unknown as Plan['targets'],
  load: { mode: 'open', perSecond: 2000 },
  byTurns: { rungs: [10], turnSeconds: 0.1 },
  control: { share: 0.02, targets: ['fastify'] },
  routes: ['GET /orders', 'POST /orders'],
  apart: 'the memory of this machine may not hold the 3 servers of a round',
  upgrade: true,
  answerSeconds: 3,
  startupSeconds: 17,
  cluster: {
    address: '10.0.0.1:6379',
    roles: { server: 'server', generator: 'generator' },
    generators: 2,
    processes: 1,
    leadMs: 500,
    skewMs: 20,
    deadlineSeconds: 10,
    connectSeconds: 30,
    server: '10.0.0.1',
    checkout: '/opt/bench',
    addresses: { b: ['10.0.0.2'] },
  },
  spread: {
    address: '10.0.0.1:6379',
    role: 'server',
    hosts: 3,
    threshold: 0.05,
    deadlineSeconds: 10,
    checkout: '/opt/bench',
  },
  autoWarmup: true,
  sequentialTest: { looks: '12/18/24', by: 'cpu', threshold: 0.02, budgetSeconds: 600 },
  params: { n: 20 },
  waitSeconds: 2,
  threads: 2,
  cores: 2,
  background: { method: 'GET', path: '/fib/42' },
  stacks: ['../my-api/stack.json'],
  apps: [{ name: 'api', folder: '.', command: ['uvicorn', 'app:app'], env: { A: 'b' } }],
  userRequests: {
    requests: [
      {
        method: 'POST',
        path: '/orders',
        weight: 2,
        headers: { a: 'b' },
        body: '{}',
        expect: { statuses: [201, '2xx'], body: '@a.json', schema: '{}' },
      },
    ],
    rows: { file: 'ids.csv', count: 3, names: ['id'], sha256: 'a'.repeat(64) },
    login: {
      method: 'POST',
      path: '/login',
      headers: {},
      body: '(not kept)',
      token: { json: '/token' },
      send: { authorization: 'Bearer {token}' },
    },
    files: { '@a.json': 'a'.repeat(64) },
    from: 'requests.json',
    openapi: '/openapi.json',
    leftOut: [{ route: 'POST /orders', reason: 'not a GET request' }],
  },
  attached: [{ target: 'old', url: 'http://127.0.0.1:1' }],
};
const run: Required<RunFile> = {
  schema: RUN_SCHEMA,
  plan,
  versions: { node: '26.10.0' },
  typed: ['vanilla', '--rounds', '2'],
  leftOut: [{ target: 'gin', reason: 'go is not here', hint: '' }],
  stops: [1],
  hosts: [
    {
      name: 'b',
      verdict: 'slower',
      cpuUsPerRequest: 48.1,
      ratio: { estimate: 1.31, low: 1.28, high: 1.35 },
      why: 'it gave no figure',
    },
  ],
};
const byAmount = { ...run, plan: { ...plan, load: { mode: 'amount', requests: 20_000 } } };
const machine: Required<Host> = {
  platform: 'linux',
  arch: 'x64',
  release: '6.8.0',
  cpuModel: 'AMD EPYC',
  cores: 2,
  memoryBytes: 2 ** 34,
  virtualised: true,
  governor: 'performance',
  cgroup: 'v2',
  load: [0.1, 0.2, 0.3],
  node: 'v26.10.0',
};

describe('the shipped schemas', () => {
  it.each(['record', 'run', 'host', 'why', 'cluster', 'stack', 'requests'] as const)(
    'are generated from the definitions: %s',
    async (name) => {
      await expect(`${JSON.stringify(SCHEMAS[name], null, 2)}\n`).toMatchFileSnapshot(
        `../../../bench-model/schema/${name}.schema.json`,
      );
    },
  );

  it('is compiled from the definition: stack', async () => {
    const compiler = new Ajv({ strict: false, messages: false, inlineRefs: false, code: { source: true } });
    const code = standalone.default(compiler, compiler.compile(SCHEMAS.stack));
    await expect(`${code}\n`).toMatchFileSnapshot('../../../bench-model/schema/stack.check.cjs');
  });

  const lines = readFixture('run/trials.jsonl').trimEnd().split('\n');

  it('accept a stored run', () => {
    const golden = readGoldenRun();
    expect(lines).toHaveLength(12);
    for (const trial of golden.trials) expect(wrongWith(isRecord, asStored(trial))).toEqual([]);
    const { plan: storedPlan, schema, versions, leftOut } = golden;
    const file = { schema, plan: storedPlan, versions, leftOut };
    expect(wrongWith(isRun, JSON.parse(JSON.stringify(file)))).toEqual([]);
    expect(wrongWith(isHost, JSON.parse(readFixture('run/host.json')))).toEqual([]);
    expect(new Set(golden.trials.map(({ status }) => status))).toEqual(new Set(['ok', 'suspect', 'failed']));
  });

  it('accept every field of the model', () => {
    expect(wrongWith(isRecord, asStored(suspect))).toEqual([]);
    expect(wrongWith(isRecord, asStored(failed))).toEqual([]);
    expect(wrongWith(isRecord, asStored(toldTrial))).toEqual([]);
    expect(wrongWith(isRun, JSON.parse(JSON.stringify(run)))).toEqual([]);
    expect(wrongWith(isRun, byAmount)).toEqual([]);
    expect(wrongWith(isHost, machine)).toEqual([]);
  });

  it('begin the description of every number with its unit', () => {
    const units =
      /^(version|count|seed|s|ms|ms since the epoch|µs|bytes|cores|per second|share|ratio|status|signal|port|process): ./;
    for (const name of ['record', 'run', 'host'] as const) {
      const figures = figuresOf(SCHEMAS[name]);
      expect(figures.length).toBeGreaterThan(2);
      expect(figures.filter(([, description]) => !units.test(description))).toEqual([]);
    }
  });

  it('forbid unknown fields in every object except maps', () => {
    const names = ['record', 'run', 'host'] as const;
    const open = names.flatMap((name) => openObjects(SCHEMAS[name], name));
    expect(open).toEqual([]);
  });

  it('require every field that the model requires', () => {
    // These records contain the required fields, and only the optional fields listed below.
    const least = [
      asStored(okTrial('fastify', sampleMeasured())),
      asStored(failedTrial('fastify', 'it died')),
      asStored(okTrial('fastify', sampleMeasured({ given: { load: sampleTold() } }))),
      asStored({ ...okTrial('fastify', sampleMeasured({ given: { server: leastServer } })) }),
    ];
    for (const record of least) {
      expect(wrongWith(isRecord, record)).toEqual([]);
      const unneeded = pathsOf(record).filter(
        (path) => wrongWith(isRecord, withField(record, path, undefined)).length === 0,
      );
      expect(unneeded.filter((path) => !OPTIONAL.includes(path))).toEqual([]);
    }
  });

  it('have the current version, whose history is described', () => {
    expect(SCHEMAS.record).toMatchObject({ properties: { schema: { const: RECORD_SCHEMA } } });
    expect(SCHEMAS.run).toMatchObject({ properties: { schema: { const: RUN_SCHEMA } } });
    const history = readFileSync(new URL('../../../bench-model/SCHEMAS.md', import.meta.url), 'utf8');
    const VERSIONS = { record: RECORD_SCHEMA, run: RUN_SCHEMA, why: WHY_SCHEMA };
    for (const [name, version] of Object.entries(VERSIONS))
      expect(history).toMatch(new RegExp(`^\\| ${name} \\| .* \\| ${version} \\|$`, 'm'));
  });
});

describe('a record', () => {
  // Read before the tests, not on import: the stored run can violate the schemas while they are regenerated.
  let ok: Json;
  beforeAll(() => {
    ok = asStored(readGoldenRun().trials[0]!);
  });

  it.each([
    ['without the length of its window', 'measured.load.windowSeconds', undefined],
    ['without its goodput', 'measured.load.goodputPerSecond', undefined],
    ['without one of its counts', 'measured.load.counts.reset', undefined],
    ['without its statuses', 'measured.load.statusCodes', undefined],
    ['without kernel CPU time', 'measured.server.cpuSystemUs', undefined],
    ['without the CPU time of a generator', 'measured.load.generators.0.cpuUs', undefined],
    ['without its load', 'measured.load', undefined],
    ['with a -1 for what was not measured', 'measured.cpuUsPerRequest', -1],
    ['with a -1 in its latency', 'measured.load.latencyUs.p99', -1],
    ['with a -1 in a host metric', 'measured.host.otherProcessesCores', -1],
    ['with 0 for missing memory', 'measured.server.idleBytes', 0],
    ['with a string that contains a unit', 'measured.load.latencyUs.p50', '173us'],
    ['with a null', 'measured.startupSeconds', null],
    ['with a fractional request count', 'measured.load.counts.ok', 0.5],
    ['with a share above 1', 'measured.load.generators.0.utilisation', 1.1],
    ['with an unknown field', 'measured.load.latencyUs.p99ms', 3],
    ['with an unknown field at the top level', 'hostname', 'a-machine'],
    ['with an unknown status', 'status', 'fine'],
    ['with a path outside its folder', 'files', ['../../secret.log']],
    ['with an absolute path', 'files', ['/tmp/server.log']],
    ['with another schema version', 'schema', RECORD_SCHEMA + 1],
    ['with a local time', 'startedAt', '2026-11-20 13:17'],
    ['if it is ok but has a reason without a code', 'reasons', [{ text: 'some', invalidates: [] }]],
    ['if it is suspect but has no reason', 'status', 'suspect'],
  ])('is rejected %s', (_what, path, value) => {
    expect(wrongWith(isRecord, ok)).toEqual([]);
    expect(wrongWith(isRecord, withField(ok, path, value))).not.toEqual([]);
  });

  it('is rejected if it failed but has measurements, or if it succeeded without any', () => {
    const broken = asStored(failedTrial('fastify', 'the server died under load'));
    expect(wrongWith(isRecord, broken)).toEqual([]);
    expect(
      wrongWith(isRecord, { ...broken, measured: asStored(okTrial('a', sampleMeasured()))['measured'] }),
    ).not.toEqual([]);
    expect(wrongWith(isRecord, { ...broken, reasons: [] })).not.toEqual([]);
    expect(wrongWith(isRecord, withField(ok, 'measured', undefined))).not.toEqual([]);
    expect(wrongWith(isRecord, { ...ok, partial: ok['measured'] })).not.toEqual([]);
  });

  it('is rejected if a reason invalidates an unknown metric', () => {
    const reasons = [{ code: 'errors', text: 'some', invalidates: ['p98'] }];
    expect(wrongWith(isRecord, { ...asStored(suspect), reasons })).not.toEqual([]);
  });
});

describe('the limit of a record', () => {
  it.each([
    ['upstream', true],
    ['database', true],
    ['background', false],
  ])('%s is valid: %s', (limit, isValid) => {
    const trial = withField(asStored(okTrial('vanilla', sampleMeasured())), 'measured.limit', limit);
    expect(wrongWith(isRecord, trial).length === 0).toBe(isValid);
  });
});

describe('a host and a run', () => {
  it.each(['hostname', 'user', 'env'])('are rejected with the field %s', (field) => {
    expect(wrongWith(isHost, { ...machine, [field]: 'x' })).not.toEqual([]);
    expect(wrongWith(isRun, { ...run, [field]: 'x' })).not.toEqual([]);
  });

  it('are rejected with a number outside its range', () => {
    expect(wrongWith(isHost, { ...machine, somaxconn: -1 })).not.toEqual([]);
    expect(wrongWith(isHost, { ...machine, openFiles: { soft: Infinity, hard: 1 } })).not.toEqual([]);
    expect(wrongWith(isRun, { ...run, plan: { ...plan, windowSeconds: 0 } })).not.toEqual([]);
  });
});

/** Optional fields that the samples contain. */
const OPTIONAL = [
  'load',
  'measured.load.schedule',
  'target.packages',
  'measured.shape',
  'target.runtime',
  'placement.server',
  'placement.generator',
  'measured.server',
  'measured.load.statusCodes.200',
  'measured.load.latencyUs',
  'measured.load.latencyUs.p50',
  'measured.load.latencyUs.p99',
  'measured.load.meanCycleUs',
  'measured.load.bodyBytes',
  // Without it, the load comes from an engine that may omit the rest.
  'measured.load.lifetime',
  'measured.load.counts.failed',
  'measured.load.generators.0.utilisation',
  'measured.load.generators.0.cores',
];

const leastServer: Resources = {
  source: 'proc stat ticks',
  scope: 'process tree',
  seconds: 5,
  cpuUserUs: 1,
  cpuSystemUs: 1,
  coresUsed: 0.5,
};
