import { describe, expect, it } from 'vitest';
import { makeReason } from 'bench-model/reasons';
import { toModel } from '../src/model/model.ts';
import { listFound, listNotes } from '../src/notes.ts';
import { readSigns } from '../src/content.ts';
import { renderTerminal } from '../src/terminal.ts';
import { toView } from '../src/view.ts';
import type { Plan } from 'bench-model/plan';
import type { Reason } from 'bench-model/reasons';
import type { Trial } from 'bench-model/record';
import { findRun, readRun } from 'bench-analysis/results/store';
import {
  failedTrial,
  okTrial,
  readGoldenRun,
  sampleMeasured,
  samplePlan,
  suspectTrial,
} from '../../bench-lab/testing/samples.ts';

const OTHERS = makeReason('cores-changed', { placed: [1], found: [0] });
const BOUND = makeReason('generator-bound', { busy: 0.95, coresUsed: 0.5 });
const plan = samplePlan('--connections 10 --rounds 5', ['vanilla', 'fastify']);

/** Returns ten trials; `reasonsOf` gives the reasons to distrust each. */
function modelOf(reasonsOf: (index: number) => Reason[]) {
  const trials = plan.trials.map(({ target, round, id }, index): Trial => {
    const reasons = reasonsOf(index);
    const head = { round, id };
    const measured = sampleMeasured({ cpu: 100 });
    return reasons.length === 0
      ? okTrial(target, measured, head)
      : suspectTrial(target, measured, reasons, head);
  });
  return toModel({ plan, host: readGoldenRun().host, versions: {}, leftOut: [], trials });
}

/** Returns the note on a server that opened this many connections for each correct response; the other one opened none. */
function noteOf(opened: number, load: Plan['load'] = plan.load): string | undefined {
  const measured = sampleMeasured().load;
  const trials = plan.trials.map(({ target, round, id }) =>
    okTrial(
      target,
      sampleMeasured({
        given: {
          load: {
            ...measured,
            opened: {
              count: target === 'fastify' ? opened * measured.counts.ok : 0,
              connectUs: { mean: 110, max: 900, p50: 100, p99: 400 },
            },
          },
        },
      }),
      { round, id },
    ),
  );
  const host = readGoldenRun().host;
  const model = toModel({ plan: { ...plan, load }, host, versions: {}, leftOut: [], trials });
  return listNotes(model, 'full').find((line) => line.includes('connection'));
}

/** The notes of a run whose trials were all answered with these statuses. */
function notesOf(statusCodes: Record<string, number>, isOfUser: boolean): string[] {
  const trials = plan.trials.map(({ target, round, id }): Trial => {
    const measured = sampleMeasured({ cpu: 100 });
    const load = { ...measured.load, statusCodes };
    const requests = isOfUser
      ? { requests: [{ method: 'GET', path: '/', weight: 1, headers: [] }] }
      : undefined;
    return { ...okTrial(target, { ...measured, load }, { round, id }), ...(requests && { requests }) };
  });
  return listNotes(toModel({ plan, host: readGoldenRun().host, versions: {}, leftOut: [], trials }), 'brief');
}

describe('the notes in brief', () => {
  it('counts the trials of each problem, the most frequent first', () => {
    const model = modelOf((index) => [...(index < 2 ? [BOUND] : []), ...(index < 7 ? [OTHERS] : [])]);
    expect(listNotes(model, 'brief')).toEqual([
      'In 7 of 10 trials, the server did not stay on its cores; there, goodput, latency and CPU per request do not count.',
      'In 2 of 10 trials, the load generator was saturated; there, goodput is a lower bound, and latency does not count.',
    ]);
    expect(toView(model).notes.at(-1)).toBe(`Which trials, and why: pnpm report ${plan.run} --detail`);
    expect(listNotes(model, 'full').join('\n')).toMatch(
      /^cores-changed: .* Seen in vanilla at 10 \(\d of 5 rounds\)/m,
    );
  });

  it('says which figures are known within bounds', () => {
    const steal = makeReason('steal', { cores: 0.1, coresUsed: 1 });
    expect(
      listNotes(
        modelOf(() => [steal]),
        'brief',
      )[0],
    ).toBe(
      'In 10 of 10 trials, the hypervisor took CPU time; there, goodput and CPU per request are known within bounds, and latency does not count.',
    );
  });

  it('counts a single trial in the same words', () => {
    expect(
      listNotes(
        modelOf((index) => (index === 0 ? [OTHERS] : [])),
        'brief',
      )[0],
    ).toBe(
      'In 1 of 10 trials, the server did not stay on its cores; there, goodput, latency and CPU per request do not count.',
    );
  });

  it('gives the whole text of a reason that is about a server, whichever trial found it', () => {
    const watcher = makeReason('watcher', { watcher: 'nodemon' });
    const notes = listNotes(
      modelOf((index) => (index === 0 ? [OTHERS, watcher] : [])),
      'brief',
    );
    expect(notes[0]).toMatch(
      /^(vanilla|fastify) at 10: the server runs under nodemon: .* Start it as in production\.$/,
    );
    expect(notes.slice(1).join()).not.toContain('watcher');
  });

  it('lists statuses that are not all 200, only of the requests of a user', () => {
    expect(notesOf({ 200: 4000 }, true)).toEqual([]);
    expect(notesOf({ 201: 4000 }, false)).toEqual([]);
    expect(notesOf({ 200: 4000, 503: 8000 }, true)[0]).toMatch(
      /^Statuses: \w+ at 10: 40,000 with status 503, 20,000 with status 200; \w+ at 10: .*00\.$/,
    );
    expect(notesOf({ 304: 4000 }, true)[0]).toContain('all 20,000 responses had status 304');
    expect(notesOf({ 304: 4000 }, true)[1]).toMatch(/^304 has no body:/);
  });

  it('gives the reason for failed trials before the other problems', () => {
    const trials = plan.trials.map(({ target, round }, index): Trial =>
      index < 3
        ? failedTrial(target, 'connection refused', { round })
        : suspectTrial(target, sampleMeasured(), [OTHERS], { round }),
    );
    const model = toModel({ plan, host: readGoldenRun().host, versions: {}, leftOut: [], trials });
    expect(listNotes(model, 'brief')[0]).toMatch(
      /^3 of 10 trials failed, such as \w+ at 10: connection refused\.$/,
    );
    expect(listNotes(model, 'brief')[1]).toMatch(/^In 7 of 10 trials, the server did not stay/);
  });

  it('names the servers whose requests opened connections', () => {
    const place = 'fastify at 10: 10,000 connects/s (p50 100 µs, p99 400 µs)';
    expect(noteOf(1)).toBe(
      `Each request opened a new connection: the server closes them. Latency and CPU µs/req include connecting. ${place}.`,
    );
    expect(noteOf(1, { mode: 'closed', newConnections: true })).toBe(
      `Each request opened a new connection (--new-connections). Latency and CPU µs/req include connecting. ${place}.`,
    );
    expect(noteOf(0.1)).toMatch(
      /^Some requests opened a new connection: fastify at 10: 10 %, 1,000 connects\/s/,
    );
    expect(noteOf(0.001)).toBeUndefined();
  });

  it('names closes of idle connections, and processes that came and went with what was lost', () => {
    const measured = sampleMeasured();
    const { load } = measured;
    const idleCloses = { count: 3, sentAgain: 1, leastSeconds: 1.98, mostSeconds: 2.04 };
    const counts = { ...load.counts, closedEarly: 4 };
    const trials = plan.trials.map(({ target, round, id }) =>
      okTrial(
        target,
        sampleMeasured({
          given: {
            ...(target === 'fastify' && { load: { ...load, counts, idleCloses } }),
            server: { ...measured.server!, turnover: { began: 2, ended: target === 'fastify' ? 1 : 2 } },
          },
        }),
        { round, id },
      ),
    );
    const host = readGoldenRun().host;
    const model = toModel({ plan, host, versions: {}, leftOut: [], trials });
    const notes = listNotes(model, 'full');
    expect(notes).toContain(
      'The server closes idle connections. fastify at 10: 15 connections after 2.0 s of silence, 5 requests were sent again.',
    );
    const lost = String.raw`5 processes ended and 10 began under load in 5 trials, 20 requests got no response \(0\.0\d+ %\)`;
    const replaced = 'workers were replaced 10 times under load in 5 trials, no request was lost';
    const came = notes.find((line) => line.startsWith('Processes of the server came and went.'));
    expect(came).toMatch(new RegExp(`fastify at 10: ${lost}`));
    expect(came).toContain(`vanilla at 10: ${replaced}`);
    expect(listFound(model)).toEqual([expect.stringMatching(/\(and 1 more\): .* under load in 5 trials/)]);
  });

  it('names the servers that do work of their responses later, with the share of that work', () => {
    const trials = plan.trials.map(({ target, round, id }) =>
      okTrial(
        target,
        sampleMeasured({
          given: {
            turns: {
              answers: [50, 50],
              cpuUs: [900, 1100],
              restsCpuUs: 1000,
              deferred: target === 'fastify' ? 0.053 : 0.009,
              goodputPerSecond: [1, 1],
            },
          },
        }),
        { round, id },
      ),
    );
    const model = toModel({ plan, host: readGoldenRun().host, versions: {}, leftOut: [], trials });
    const note =
      'Part of CPU µs/req is deferred work: the server does it after its responses, between its turns. fastify at 10: 5.3 %.';
    expect(listNotes(model, 'brief')).toEqual([note]);
    expect(listNotes(model, 'full')).toEqual([note]);
    expect(toView(model).closing?.sentence).toContain(
      ' Found: fastify at 10: 5.3 % of its CPU per request is spent after the responses. ',
    );
  });

  it('says as what a planted cost was read, and that a comparison which misses it is blind', () => {
    const decided = {
      ...samplePlan('--threshold 2% --connections 10', ['vanilla', 'fastify'], { looks: '12/18/24' }),
      control: { share: 0.02, targets: ['vanilla'] },
    };
    const modelWith = (between?: number, noise = 0, rounds = 24) => {
      const trials = decided.trials.slice(0, 2 * rounds).map(({ target, round, id }) => {
        const plantedUs = (between ?? 0) + (round % 2 === 0 ? noise : -noise);
        const turns = { plainUs: 100, plantedUs: 101, burntUs: 1 };
        const control = { turns, between: { plainUs: 0, plantedUs, burntUs: 1 } };
        const given = target === 'vanilla' && between !== undefined ? { control } : {};
        return okTrial(target, sampleMeasured({ cpu: 100, given }), { round, id });
      });
      return toModel({ plan: decided, host: readGoldenRun().host, versions: {}, leftOut: [], trials });
    };
    expect(listNotes(modelWith(1), 'brief')).toContain(
      'A planted +2.0 % was read as +2.00 % (+2.00 % to +2.00 %).',
    );
    expect(listNotes(modelWith(undefined), 'brief').join('\n')).toContain('No known cost was planted');
    expect(String(listNotes(modelWith(1, 5, 3), 'brief'))).toMatch(/A planted .*: too few rounds to tell\./);
    expect(String(listNotes(modelWith(1, 5, 2), 'brief'))).not.toContain('planted');
    const blind = modelWith(0);
    expect(listNotes(blind, 'brief')).toContain('A planted +2.0 % was read as +1.00 % (+1.00 % to +1.00 %).');
    expect(toView(blind).closing?.sentence).toContain(
      'fastify and vanilla at 10 connections: blind: a planted +2.0 % was read as +1.00 %',
    );
  });

  it('is empty if every check passed', () => {
    expect(
      listNotes(
        modelOf(() => []),
        'brief',
      ),
    ).toEqual([]);
  });
});

describe('a busy run on a terminal', () => {
  const view = toView(toModel(readRun(findRun('20261122-231734-devices'))));

  /** Returns the lines between the table and the last sentence, without the courses of the ladder. */
  function notesAt(width: number): string[] {
    const lines = renderTerminal(view, { width, noteLines: 10 }).trimEnd().split('\n');
    const from = lines.findIndex((line) => /^ {2}(Omitted to fit|[#±] )/.test(line));
    return lines.slice(from, lines.lastIndexOf(''));
  }

  it.each([80, 120])('has at most ten lines of notes at %i columns', (width) => {
    const notes = notesAt(width);
    expect(notes.length).toBeGreaterThan(5);
    expect(notes.length).toBeLessThanOrEqual(10);
    for (const line of notes) expect(line.length).toBeLessThanOrEqual(width);
  });

  it('explains a column only if it is shown', () => {
    const [wide = '', narrow = ''] = [120, 80].map((width) =>
      notesAt(width).join(' ').replaceAll(/\s+/g, ' '),
    );
    expect(wide).toContain('limit: what was saturated');
    expect(narrow).not.toContain('limit: what');
    expect(readSigns(view).join('\n')).toContain(
      'limit: what was saturated: the server, the load generator, nothing (waiting) or the CPU, by processes that do not belong to this run (others).',
    );
  });
});

/** Returns the marks that are explained below a table with these cells. */
function marksOf(...cells: string[]): string {
  return readSigns({
    signs: ['≥', '±', '~', '?'].map((mark) => ({ mark, text: mark })),
    columns: [],
    groups: [{ heading: '', rows: [cells] }],
  }).join(' ');
}

describe('the marks of a table', () => {
  it('are explained if a figure has them', () => {
    expect(marksOf('≥ 62,292 ±6.5 %', '143 ~31 %', '1,899 ?')).toBe('≥ ± ~ ?');
  });

  it('are not explained if only a name has their character', () => {
    expect(marksOf('shop[HEAD~1 a388887]', 'GET /orders?limit=20', '1,899')).toBe('');
  });
});
