import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { Trial } from 'bench-model/record';
import { hide } from 'bench-machine/redact';
import { describeAnswers, describeCaveats } from '../src/html/answer.ts';
import { toPage } from '../src/html/data.ts';
import { embed, renderHtml } from '../src/html/document.ts';
import { toModel } from '../src/model/model.ts';
import { findRun, readRun } from 'bench-analysis/results/store';
import { readGoldenRun } from '../../bench-lab/testing/samples.ts';

const ASSETS = { script: 'document.title = "report";', style: 'body { margin: 0 }' };

const run = readGoldenRun();

const sentencesOf = (name: string): Record<string, string[]> =>
  Object.fromEntries(
    describeAnswers(toModel(readRun(findRun(name)))).map(({ heading, sentences }) => [heading, sentences]),
  );

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

describe('the answer', () => {
  it('names the cheapest target and the next one, and ranks no lower bounds', () => {
    expect(sentencesOf('20261122-231734-devices')['1,000 connections']).toMatchInlineSnapshot(`
      [
        "Least CPU per request: vanilla and fastify share the first rank, 32.6 µs to 38.8 µs. Their rounds do not distinguish them.",
        "Highest goodput: vanilla, at least 26,310/s; then fastify, at least 22,826/s. Lower bounds are not ranked.",
      ]
    `);
  });

  it('ranks no lower bounds, also if the generator was saturated in some rounds only', () => {
    const [ten, hundred] = describeAnswers(toModel(run)).map(({ sentences }) => sentences.join(' '));
    expect(ten).toMatch(/at least 62,292\/s; then .* Lower bounds are not ranked\.$/);
    expect(hundred).toMatch(/at least 56,654\/s; then .* Lower bounds are not ranked\.$/);
  });

  it('says what the rounds do not distinguish, and what changed against the baseline', () => {
    expect(sentencesOf('20261121-234936-devices')).toMatchInlineSnapshot(`
      {
        "100 connections": [
          "Least CPU per request: uvicorn/interpreted@3.14.6+jit and uvicorn/interpreted@3.14.6 share the first rank, 36.4 µs to 37.3 µs. Their rounds do not distinguish them.",
          "Highest goodput: uvicorn/interpreted@3.14.6+jit and uvicorn/interpreted@3.14.6 share the first rank, 25,835/s to 26,402/s. Their rounds do not distinguish them.",
        ],
        "CPU per request, each against itself on 3.11": [
          "Better: fastapi@3.14.6 (−19 %), fastapi@3.14.6+jit (−20 %), litestar@3.14.6 (−20 %), litestar@3.14.6+jit (−18 %) and 2 more.",
          "Undecided: fastapi@3.12, fastapi@3.13, litestar@3.12, litestar@3.13 and 4 more.",
        ],
      }
    `);
  });

  it('makes no claim without rounds to support it', () => {
    expect(sentencesOf('20261123-201140-repository')).toMatchInlineSnapshot(`
      {
        "500 connections": [
          "Least CPU per request: flask/gunicorn-gthread, 960 µs; then fastapi, 1,071 µs. Too few valid rounds to rank them.",
          "Highest goodput: fastapi, 250/s; then flask, 250/s. Too few valid rounds to rank them.",
        ],
        "CPU per request, each against flask": [
          "Undecided: flask/gunicorn, flask/gunicorn-gthread, flask/waitress, flask/dev-global and 3 more.",
        ],
      }
    `);
  });

  it('lets targets share a rank if rounds in doubt do not distinguish them', () => {
    expect(sentencesOf('20261122-235001-devices')['100 connections']?.[0]).toBe(
      'Least CPU per request: fastify, vanilla and litestar share the first rank, 30.8 µs to 116 µs. Their rounds do not distinguish them.',
    );
  });

  it('is followed by what a reader must know', () => {
    expect(describeCaveats(toModel(readRun(findRun('20261122-231734-devices'))))).toMatchInlineSnapshot(`
      [
        "Measured on: VM, AMD EPYC, 2 cores, linux 6.18.44-fc-v669.",
        "Rounds: 3 of 3 complete. With fewer than six, bars show the range of the rounds.",
        "Noise: the rounds of a typical row differ by ±9.0 % in CPU per request.",
        "The load generator was saturated in 5 of 20 rows: their goodput is a lower bound, and their latency is not ranked.",
        "42 of 60 trials are suspect: the figures that a failed check concerns do not count.",
      ]
    `);
  });
});
