import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { readDocument } from '../../../src/analyse/recheck/document.ts';
import { readFixture } from '../../samples.ts';

const README = readFixture('recheck/readme.md');
const PLAIN = readDocument(README, 'README.md');
const ESC = String.fromCharCode(27);

describe('readDocument', () => {
  it('finds every table and report, with its line, title and command', () => {
    expect(PLAIN.tests.map(({ line, samples }) => [line, samples])).toEqual([
      [24, 5],
      [75, 10],
      [100, 9],
      [151, 10],
      [202, undefined],
    ]);
    expect(PLAIN.times.map(({ line, command }) => [line, command])).toEqual([
      [50, 'bench-fastapi'],
      [126, 'pnpm run bench:fastify'],
      [177, 'pnpm run bench:vanilla'],
      [222, 'bench-uvicorn'],
    ]);
    expect(PLAIN.tests[1]?.title).toBe('Autocannon results on localhost running Litestar /api/devices');
  });

  it.each([
    ['Windows line endings', (text: string) => text.replaceAll('\n', '\r\n')],
    ['Markdown quote markers', (text: string) => text.replace(/^(?=.)/gm, '> ')],
    [
      'colours',
      (text: string) =>
        text.replaceAll('│', `${ESC}[90m│${ESC}[39m`).replaceAll('Req/Sec', `${ESC}[1mReq/Sec${ESC}[22m`),
    ],
    ['a progress bar', (text: string) => text.replace(/^(?=.*│ Latency)/gm, `running [=  ] 50%\r${ESC}[K`)],
    ['ASCII bars', (text: string) => text.replaceAll('│', '|')],
    [
      'German separators',
      (text: string) =>
        text.replace(/Req\/Sec.*/g, (row) => row.replace(/[.,]/g, (mark) => (mark === ',' ? '.' : ','))),
    ],
    ['French separators', (text: string) => text.replace(/(\d),(?=\d{3})/g, '$1\u202f')],
  ])('reads the same with %s', (_, edit) => {
    const { tests, times } = readDocument(edit(README), 'README.md');
    expect(tests).toEqual(PLAIN.tests);
    expect(times).toEqual(PLAIN.times);
  });

  it('separates tables without a fold between them', () => {
    const bare = README.replace(/^<\/?details>$|<summary>.*/gm, '');
    expect(readDocument(bare, 'README.md').tests.map(({ samples }) => samples)).toEqual([
      5,
      10,
      9,
      10,
      undefined,
    ]);
  });

  it('does not mistake prose for a table, a report or a part of one', () => {
    const prose =
      '10 connections\n# of samples: 3\n12 errors (0 timeouts)\n24 real\nMaximum resident set size\n';
    const { tests, times } = readDocument(prose, 'README.md');
    expect({ tests, times }).toEqual({ tests: [], times: [] });
  });

  it('reads a command with options of time, behind a prompt', () => {
    const text =
      'me@host:~$ /usr/bin/time -l -o out.txt node server.js\nlistening\n  1.25 real  0.50 user  0.75 sys\n';
    expect(readDocument(text, 'x').times[0]).toMatchObject({
      command: 'node server.js',
      report: { elapsedSeconds: 1.25 },
    });
  });
});

describe('the source', () => {
  it('contains no number of the document that it is tested with', () => {
    const root = fileURLToPath(new URL('../../../src/', import.meta.url));
    const source = globSync(['analyse/recheck/*.ts', 'report/recheck*.ts', 'time-report.ts'], { cwd: root })
      .map((file) => readFileSync(`${root}${file}`, 'utf8').replaceAll('_', ''))
      .join('\n');
    // Round numbers such as 10000 may occur anywhere: timeouts, marks, bounds of a format.
    const figures = [...README.matchAll(/\d[\d,.]*\d/g)]
      .flatMap(([figure]) => [figure, figure.replaceAll(',', '')])
      .filter((figure) => figure.replace(/[.,]/g, '').length >= 4 && !/^10*$/.test(figure));
    expect(figures.length).toBeGreaterThan(150);
    expect(figures.filter((figure) => source.includes(figure))).toEqual([]);
  });
});
