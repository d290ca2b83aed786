import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { Trial } from 'bench-model/record';
import { hide } from 'bench-machine/redact';
import { toPage } from '../src/html/data.ts';
import { embed, renderHtml } from '../src/html/document.ts';
import { toModel } from '../src/model/model.ts';
import { toView } from '../src/view.ts';
import { findRun, readRun } from 'bench-analysis/results/store';
import { readGoldenRun } from '../../bench-lab/testing/samples.ts';

const ASSETS = { script: 'document.title = "report";', style: 'body { margin: 0 }' };

const run = readGoldenRun();

const pageOf = (name: string) => toPage(toModel(readRun(findRun(name))));

describe('the embedded data', () => {
  it('cannot end its element, and is the same value when it is read', () => {
    const value = { name: '</script><!--<script>&amp;', '\u2028\u2029': ['é', 0.5] };
    const text = embed(value);
    expect(text).not.toMatch(/[<>&\u2028\u2029]/);
    expect(JSON.parse(text)).toEqual(value);
  });

  it('shows no secrets, writes control characters out and shortens fractions', () => {
    hide(['hunter2-hunter2']);
    expect(JSON.parse(embed(['key hunter2-hunter2', 'red\u001B[31m', 1 / 3, 123_456_789]))).toEqual([
      'key (not kept)',
      'red\\u001b[31m',
      0.333333333,
      123_456_789,
    ]);
  });
});

describe('the document', () => {
  const text = renderHtml(toModel(run, { distributions: true }), ASSETS);

  it('permits its own script only, and nothing from a network', () => {
    const digest = createHash('sha256').update(ASSETS.script).digest('base64');
    expect(text).toContain(`default-src 'none'; script-src 'sha256-${digest}';`);
    expect(text).toContain(`<script>${ASSETS.script}</script>`);
    expect(text).not.toMatch(/\b(?:src|href)=|@import|url\(/);
  });

  it('keeps the course and the log of a limited number of trials, of suspect and failed ones first', () => {
    const [first, ...others] = run.trials as [Trial, ...Trial[]];
    const many = Array.from({ length: 700 }, (_, index) => ({ ...first, id: `t${index}`, order: index + 1 }));
    const page = toPage(toModel({ ...run, trials: [first, ...others, ...many] }));
    const kept = page.rows.flatMap(({ trials }) =>
      trials.filter(({ goodputOverTime, logTail }) => goodputOverTime ?? logTail),
    );
    expect(page.shortened).toBe(712 - 600);
    expect(kept.length).toBeLessThanOrEqual(600);
    expect(kept.filter(({ logTail }) => logTail !== undefined)).toHaveLength(
      run.trials.filter(({ logTail, reasons }) => logTail !== undefined && reasons.length > 0).length,
    );
  });
});

describe('the response', () => {
  it('is a sentence, and the ranking or the comparisons', () => {
    const shown = ['20261122-231734-devices', '20261121-234936-devices', '20261123-201140-repository'].map(
      pageOf,
    );
    expect(shown.map(({ outcome, isCompared }) => [outcome, isCompared])).toMatchInlineSnapshot(`
      [
        [
          "Lowest CPU per request: vanilla or fastify at 10 and 1,000 connections (24.4 to 38.8 µs), vanilla at 100 and 10,000.",
          false,
        ],
        [
          "14 comparisons of CPU per request against itself on 3.11: 6 better (litestar@3.14.6 −20 %, fastapi@3.14.6+jit −20 %, fastapi@3.14.6 −19 %, 3 more), 8 undecided.",
          true,
        ],
        [
          "Lowest CPU per request: fastapi at 500 connections (1,071 µs); one round cannot rank them. Found: flask/gunicorn-gthread at 500 (and 3 more): 20 of 500 connections were established when the window opened; flask/gunicorn-gthread at 500 (and 2 more): 488 requests were still unanswered when the load ended.",
          false,
        ],
      ]
    `);
    expect(toPage(toModel({ ...run, trials: [] }))).toMatchObject({
      outcome: 'No trial has ended.',
      isCompared: false,
    });
  });

  it('is followed by an open warning only if a figure that decides is missing', () => {
    expect(pageOf('20261122-231734-devices').isDoubtful).toBe(false);
    expect(toPage(toModel(run)).isDoubtful).toBe(true);
  });

  it('is followed by the machine and the notes that the terminal shows', () => {
    const { caveats } = pageOf('20261122-231734-devices');
    const { notes } = toView(toModel(readRun(findRun('20261122-231734-devices'))));
    expect(caveats[0]).toBe('Measured on: VM, AMD EPYC, 2 cores, linux 6.18.44-fc-v669.');
    // The terminal adds the command for more.
    expect(caveats.slice(1)).toEqual(notes.slice(0, -1));
    expect(caveats.join('\n')).toContain('the load generator was saturated');
  });
});
