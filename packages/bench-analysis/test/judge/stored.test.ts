import { metricsOf } from 'bench-model/metrics';
import { describe, expect, it } from 'vitest';
import { judgeStored } from '../../src/judge/stored.ts';
import { lackedEvidence } from './evidence.ts';
import { makeReason } from 'bench-model/reasons';
import type { Measured, Turns } from 'bench-model/measured';
import type { Reason } from 'bench-model/reasons';
import type { Trial, TrialHead } from 'bench-model/record';
import {
  failedTrial,
  okTrial,
  readGoldenRun,
  sampleCounts,
  sampleLoad,
  sampleMeasured,
  samplePlan,
  sampleResources,
  suspectTrial,
} from '../../../bench-lab/testing/samples.ts';

const { host } = readGoldenRun();
const plan = samplePlan('');

/** A server that used half of its core, and its load. */
function seen(load: Parameters<typeof sampleLoad>[0] = {}, given: Partial<Measured> = {}): Measured {
  return sampleMeasured({
    given: { load: sampleLoad(load), server: sampleResources(0.5), limit: 'waiting', ...given },
  });
}

function judged(trial: Trial): Trial {
  return judgeStored({ plan, host, trials: [trial] })[0]!;
}

const trialOf = (measured: Measured, reasons: Reason[] = [], head: Partial<TrialHead> = {}): Trial =>
  reasons.length === 0
    ? okTrial('fastify', measured, head)
    : suspectTrial('fastify', measured, reasons, head);
const codesOf = ({ reasons }: Trial): string[] => reasons.map(({ code }) => code);

const STEAL = makeReason('steal', { cores: 0.3 });
const UNSTEADY = makeReason('unsteady', { shape: 'erratic', least: 1, most: 9, milliseconds: 250 });
const falling = { milliseconds: 250, ok: Array.from({ length: 20 }, (_, at) => (at < 10 ? 4000 : 1000)) };

const turnsOf = (cost: (turn: number) => number): Turns => ({
  answers: Array.from({ length: 40 }, () => 100),
  cpuUs: Array.from({ length: 40 }, (_, turn) => 100 * cost(turn)),
  goodputPerSecond: Array.from({ length: 40 }, () => 1000),
});

/** The codes of two servers that take turns: one costs 10 µs per request, the other this. */
const duelOf = (other: (turn: number) => number, reasons: Reason[] = []): string[][] =>
  judgeStored({
    plan,
    host,
    trials: [() => 10, other].map((cost, order) =>
      trialOf(seen({}, { turns: turnsOf(cost) }), reasons, { duel: 'r1', order }),
    ),
  }).map(codesOf);

describe('a stored trial', () => {
  it('is suspect if a rule of today is against it, whatever it said in its day', () => {
    const busy = seen({ generators: [{ cpuUs: 4_750_000, seconds: 5, utilisation: 0.91 }] });
    expect(judged(trialOf(busy))).toMatchObject({
      status: 'suspect',
      reasons: [{ code: 'generator-bound', invalidates: metricsOf('pace') }],
      measured: { limit: 'generator' },
    });
  });

  it('fails if a rule of today is fatal', () => {
    const wrong = seen({ counts: sampleCounts({ ok: 50_000, mismatch: 1, inFlight: 10 }) });
    const trial = judged(trialOf(wrong));
    expect(trial).toMatchObject({ status: 'failed', partial: { load: wrong.load } });
    expect(codesOf(trial)).toEqual(['wrong-body']);
    expect(trial).not.toHaveProperty('measured');
  });

  it('is ok again if its record has the evidence against a reason', () => {
    const quiet = seen({}, { host: { stealCores: 0.01 } });
    expect(judged(trialOf(quiet, [STEAL]))).toMatchObject({ status: 'ok', reasons: [] });
  });

  it('keeps a reason without evidence, as what the code means today', () => {
    const old = { ...STEAL, invalidates: [] };
    expect(judged(trialOf(seen(), [old])).reasons).toEqual([STEAL]);
    const unanswered = makeReason('not-verified', { problem: 'no answer', inFlight: 3 });
    expect(judged(trialOf(seen(), [unanswered])).reasons).toEqual([unanswered]);
  });

  it('keeps its reasons in their order, and has new ones at the end', () => {
    const stolen = seen({ slices: falling }, { host: { stealCores: 0.3 } });
    const trial = trialOf(stolen, [STEAL, makeReason('not-verified', { problem: 'no answer', inFlight: 3 })]);
    expect(codesOf(judged(trial))).toEqual(['steal', 'not-verified', 'unsteady']);
  });

  it('is not judged by its pace if the number of its turns is not stored', () => {
    const duel = { duel: 'r1' };
    const then = seen({ slices: falling, meanCycleUs: 2000 }, { shape: 'erratic' });
    expect(judged(trialOf(then, [], duel))).toMatchObject({ status: 'ok', measured: { shape: 'erratic' } });
    expect(judged(trialOf(then, [UNSTEADY], duel)).reasons).toEqual([UNSTEADY]);
    expect(codesOf(judged(trialOf(then)))).toEqual(['little', 'trend']);
  });

  it('has the figures that follow from its measurements by the rules of today', () => {
    const then = seen({}, { cpuUsPerRequest: 1 });
    const trial = judged(trialOf(then));
    const { server, load } = then;
    const cpuUs = server!.cpuUserUs + server!.cpuSystemUs;
    expect(trial).toMatchObject({
      measured: { cpuUsPerRequest: cpuUs / (load.goodputPerSecond * server!.seconds), shape: 'flat' },
    });
  });

  it('is judged by its turns beside those of the other server', () => {
    expect(duelOf((turn) => 10 + turn / 4)).toEqual([['ratio-trend'], ['ratio-trend']]);
    const before = [makeReason('ratio-trend', { change: 1.2 }), makeReason('not-level', { change: 1.2 })];
    expect(duelOf(() => 12, before)).toEqual([['not-level'], ['not-level']]);
  });

  it('is judged among the servers that took turns with it at the same request', () => {
    const costs = [
      { route: 'GET /a', cost: () => 10 },
      { route: 'GET /a', cost: (turn: number) => 10 + turn / 4 },
      { route: 'GET /b', cost: () => 10 },
      { route: 'GET /b', cost: () => 12 },
    ];
    const trials = costs.map(({ route, cost }, order) =>
      trialOf(seen({}, { turns: turnsOf(cost) }), [], { duel: 'r1', order, route }),
    );
    expect(judgeStored({ plan, host, trials }).map(codesOf)).toEqual([
      ['ratio-trend'],
      ['ratio-trend'],
      [],
      [],
    ]);
  });

  it('is judged by its study of warm-up', () => {
    const warmups = [
      {
        target: 'fastify',
        rungs: [10],
        seconds: 2,
        study: { run: 'a', processes: 3, settled: 0, observedSeconds: 60 },
      },
    ];
    const [trial] = judgeStored({ plan: { ...plan, warmups }, host, trials: [trialOf(seen())] });
    expect(codesOf(trial!)).toEqual(['never-warm']);
  });

  it.each([
    [{ implementation: 'openjdk', version: '25.0.1' }, 457, ['cold-jvm']],
    [{ implementation: 'openjdk', version: '25.0.1' }, 5000, []],
    [{ implementation: 'node', version: '26.10.0' }, 457, []],
  ])('is judged by its answers if %j runs it: after %d, %j', (interpreter, answers, codes) => {
    const age = { secondsSinceStart: 2, secondsSinceAnswer: 1, answers };
    expect(codesOf(judged(trialOf(seen({}, { age }), [], { interpreter })))).toEqual(codes);
  });

  it('is judged by the companions in its record', () => {
    const measured = seen({}, { companions: { database: { resources: sampleResources(0.97) } } });
    const head: Partial<TrialHead> = {
      companions: { database: { kind: 'embedded', version: '18.4', maxConnections: 100 } },
      placement: { kind: 'separate', server: [1], generator: [0], beside: { database: [2] } },
    };
    const trial = judged(trialOf(measured, [], head));
    expect(trial).toMatchObject({ status: 'suspect', measured: { limit: 'database' } });
    expect(codesOf(trial)).toEqual(['database-bound']);
    const away = { database: { ...head.companions!.database!, host: { name: 'b', cores: 2, release: '6' } } };
    expect(judged(trialOf(measured, [], { ...head, companions: away })).status).toBe('ok');
  });

  it('that has failed stays as it is', () => {
    const failed = failedTrial('fastify', 'it died');
    expect(judged(failed)).toBe(failed);
  });
});

describe('the evidence that a record lacks', () => {
  it('is absent, not 0', () => {
    const whole = { stealCores: 0, otherProcessesCores: 0, listenOverflows: 0, retransmits: 0, throttled: 0 };
    const latencyUs = sampleLoad().latencyUs!;
    const lifetime = sampleCounts({ ok: 50_010 });
    const server = { ...sampleResources(0.5), memoryOverTime: [{ seconds: 1, bytes: 5e7 }] };
    const full = seen({ unsolicited: 0, latencyAtLeastUs: latencyUs, lifetime }, { host: whole, server });
    const planned = { plan: { ...plan, warmups: [] } };
    expect(lackedEvidence(trialOf(full), planned)).toEqual([]);
    const { stealCores: _, ...unseen } = whole;
    expect(lackedEvidence(trialOf({ ...full, host: unseen }), planned)).toEqual(['steal']);
    expect(lackedEvidence(trialOf(full), { plan })).toEqual(['not-warm', 'never-warm']);
  });
});
