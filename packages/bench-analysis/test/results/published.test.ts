/** Holds the published runs against the rules in force. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { HOME } from 'bench-machine/home';
import { lackedEvidence } from '../judge/evidence.ts';
import { METRIC_IDS, type MetricId } from 'bench-model/metrics';
import { renewReason, type ReasonCode } from 'bench-model/reasons';
import type { GeneratorUse } from 'bench-model/load';
import type { Trial } from 'bench-model/record';
import { listRuns, readRun } from '../../src/results/store.ts';
import { listDocuments } from '../../../../scripts/checks/documents.ts';
import { findBlocks, proseOf, readDocument } from '../../../bench-lab/testing/documents.ts';

const PUBLISHED = join(HOME.results, 'published');
const RUNS = listRuns(PUBLISHED).map((id) => ({
  id,
  run: readRun(join(PUBLISHED, id)),
  stored: readStored(join(PUBLISHED, id)),
}));

/** Reads the trials of a run with the judgement of their day. */
function readStored(folder: string): Trial[] {
  const lines = readFileSync(join(folder, 'trials.jsonl'), 'utf8').trimEnd().split('\n');
  return lines.map((line) => JSON.parse(line) as Trial);
}

function judgementOf({ status, reasons }: Trial): string {
  return [status, ...reasons.map(({ code }) => code)].join(' ');
}

/** The busiest generator of a trial, by its CPU or its event loop. */
function busiestOf(trial: Trial): number {
  const { generators = [] } = (trial.status === 'failed' ? undefined : trial.measured.load) ?? {};
  const shares = generators.map(({ cpuUs, seconds, cores = 1, utilisation = 0 }: GeneratorUse) =>
    Math.max(utilisation, cpuUs / 1e6 / seconds / cores),
  );
  return Math.max(0, ...shares);
}

describe('the published trials', () => {
  it('are shown with the reasons of today', async () => {
    const changed = RUNS.flatMap(({ id, run, stored }) =>
      run.trials.flatMap((trial, index) => {
        const [then, now] = [judgementOf(stored[index]!), judgementOf(trial)];
        return then === now ? [] : [`${id} ${trial.id}: ${then} → ${now}`];
      }),
    );
    await expect(`${changed.join('\n')}\n`).toMatchFileSnapshot(
      '../../../bench-lab/testing/fixtures/golden/published.txt',
    );
  });

  it('have no valid latency if a generator was saturated, whatever they said in their day', () => {
    const busy = RUNS.flatMap(({ run, stored }) =>
      run.trials
        .map((trial, index) => ({ trial, before: stored[index]! }))
        .filter(({ trial }) => busiestOf(trial) > 0.9),
    );
    for (const { trial } of busy) {
      const invalid = new Set(trial.reasons.flatMap(({ invalidates }) => invalidates));
      expect([...invalid]).toEqual(expect.arrayContaining(['goodput', 'p50', 'p99']));
    }
    expect(busy.filter(({ before }) => before.status === 'ok')).toHaveLength(29);
  });
});

/** The metrics of blocks that do not name them. */
const SHOWN: Record<string, readonly MetricId[]> = {
  run: METRIC_IDS,
  detail: METRIC_IDS,
  compare: ['cpu'],
  verdicts: ['cpu'],
  calibration: [],
};

interface Quotation {
  id: string;
  metric: MetricId;
}

/** The metrics of runs that a document quotes. A link in its prose quotes CPU per request. */
function quotationsIn(path: string): Quotation[] {
  const document = readDocument(path);
  const linked = [...proseOf(document).matchAll(/results\/published\/([\w-]+)/g)].map(([, id = '']) => ({
    words: [id],
    metrics: ['cpu'] as readonly MetricId[],
  }));
  const blocks = findBlocks(document).map(({ kind, words }) => ({
    words,
    metrics: SHOWN[kind] ?? METRIC_IDS.filter((id) => words.includes(id)),
  }));
  return [...linked, ...blocks].flatMap(({ words, metrics }) =>
    words.flatMap((id) => metrics.map((metric) => ({ id, metric }))),
  );
}

/** The rules that quoted runs cannot be judged by, and why their figures stand. */
const ACCEPTED: { codes: ReasonCode[]; runs: RegExp; why: string }[] = [
  {
    codes: ['unsolicited'],
    runs: /^20261121-234641-|^20261122-(06|07|08)|^20261123-20(2155|2329|2600|2749)-/,
    why: 'the first load driver and engines from outside do not count answers without a request. No run that counted them has any',
  },
  {
    codes: ['unanswered'],
    runs: /^20261123-(195757|201140|201942|202155|202329|202600|202749)-/,
    why: 'engines from outside report no unanswered requests. Of the others, these runs have some, of unknown age: the pages name them',
  },
  {
    codes: ['not-warm', 'never-warm'],
    runs: /^20261121-234641-|^20261122-(06|07|08)/,
    why: 'there were no studies of warm-up. The pages say what a short one does',
  },
  {
    codes: ['trend', 'ratio-trend'],
    runs: /^20261121-234641-/,
    why: 'the turns of these duels are not stored. The servers of a round shared every change of the machine',
  },
];

describe('the figures that documents quote', () => {
  it('come from records that can be judged by each rule that would invalidate them', () => {
    const wanting = listDocuments().flatMap((path) =>
      quotationsIn(path).flatMap(({ id, metric }) => {
        const found = RUNS.find((one) => one.id === id);
        if (found === undefined) return [];
        const codes = new Set(found.run.trials.flatMap((trial) => lackedEvidence(trial, found.run)));
        return [...codes]
          .filter((code) => renewReason({ code, text: '', invalidates: [] }).invalidates.includes(metric))
          .filter((code) => !ACCEPTED.some(({ codes: known, runs }) => known.includes(code) && runs.test(id)))
          .map((code) => `${path} quotes ${metric} of ${id}, which cannot be judged by ${code}`);
      }),
    );
    expect([...new Set(wanting)]).toEqual([]);
  });

  it('need each of the exceptions', () => {
    const quoted = new Set(listDocuments().flatMap((path) => quotationsIn(path).map(({ id }) => id)));
    const idle = ACCEPTED.filter(
      ({ codes, runs }) =>
        !RUNS.some(({ id, run }) => {
          const lacked = run.trials.flatMap((trial) => lackedEvidence(trial, run));
          return quoted.has(id) && runs.test(id) && codes.some((code) => lacked.includes(code));
        }),
    );
    expect(idle).toEqual([]);
  });
});
