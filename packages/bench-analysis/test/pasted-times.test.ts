import { describe, expect, it } from 'vitest';
import { readPastedTimes } from '../src/pasted-times.ts';
import { errorOf, readFixture } from '../../bench-lab/testing/samples.ts';

const TEXT = readFixture('time/pasted.md');
const PLAIN = readPastedTimes(TEXT, 'pasted.md');
const ESC = String.fromCharCode(27);

/** A report of GNU time(1), with about 1.06 s of CPU. */
const gnu = (command: string) =>
  readFixture('time/gnu-exit-0.txt').replace(/being timed: ".*"/, `being timed: "${command}"`);

/** A table of autocannon over 10 seconds. */
const table = (average: string, setting = '10 connections') =>
  `Running 10s test @ http://localhost\n${setting}\n\n│ Req/Sec │ 1 │ 1 │ 1 │ 1 │ ${average} │ 1 │ 1 │\n\n# of samples: 10\n\n`;

const read = (text: string) => readPastedTimes(text, 'a.txt')[0];

describe('readPastedTimes', () => {
  it('reads every report of a text in order, with its line and command', () => {
    expect(PLAIN.map(({ number, line, command }) => [number, line, command])).toEqual([
      [1, 50, 'bench-fastapi'],
      [2, 126, 'pnpm run bench:fastify'],
      [3, 177, 'pnpm run bench:vanilla'],
      [4, 222, 'bench-uvicorn'],
    ]);
    expect(PLAIN[1]?.fields).toMatchObject({ userSeconds: 1.16, maxResidentBytes: 129_200_128 });
  });

  it.each([
    ['Windows line endings', (text: string) => text.replaceAll('\n', '\r\n')],
    ['Markdown quote markers', (text: string) => text.replace(/^(?=.)/gm, '> ')],
    [
      'colours',
      (text: string) =>
        text.replaceAll('│', `${ESC}[90m│${ESC}[39m`).replaceAll('Req/Sec', `${ESC}[1mReq/Sec${ESC}[22m`),
    ],
    ['ASCII bars', (text: string) => text.replaceAll('│', '|')],
    [
      'German separators',
      (text: string) =>
        text.replace(/Req\/Sec.*/g, (row) => row.replace(/[.,]/g, (mark) => (mark === ',' ? '.' : ','))),
    ],
    ['French separators', (text: string) => text.replace(/(\d),(?=\d{3})/g, '$1\u202f')],
  ])('reads the same with %s', (_, edit) => {
    expect(readPastedTimes(edit(TEXT), 'pasted.md')).toEqual(PLAIN);
  });

  it('reads a report of GNU time without a table', () => {
    const found = read(gnu('node server.js'));
    expect(found).toMatchObject({
      format: 'gnu',
      command: 'node server.js',
      fields: { userSeconds: 0.89, maxResidentBytes: 95_312 * 1024 },
    });
    expect(found?.fields).not.toHaveProperty('messagesSent');
    expect(found).not.toHaveProperty('answers');
  });

  it('reads a command with options of time, behind a prompt', () => {
    const text =
      'me@host:~$ /usr/bin/time -l -o out.txt node server.js\nlistening\n  1.25 real  0.50 user  0.75 sys\n';
    expect(read(text)).toMatchObject({ command: 'node server.js', fields: { elapsedSeconds: 1.25 } });
  });

  it.each([
    'hello',
    TEXT.slice(0, TEXT.indexOf('Time verbose')),
    '10 connections\n12 errors (0 timeouts)\n24 real\nMaximum resident set size\n24 real devices\n',
  ])('refuses a text without a report', (text) => {
    expect(errorOf(() => readPastedTimes(text, 'a.txt')).message).toBe('a.txt: no time(1) report');
  });
});

describe('the answers of a pasted report', () => {
  it('are those of the nearest table above it, and none of an earlier report', () => {
    expect(PLAIN.map(({ answers }) => answers)).toEqual([214_328, undefined, 390_772, undefined]);
    const [first, second] = readPastedTimes(table('1,000') + gnu('a') + gnu('b'), 'a.txt');
    expect(first).toMatchObject({ command: 'a', answers: 10_000 });
    expect(second).toMatchObject({ command: 'b' });
    expect(second).not.toHaveProperty('answers');
  });

  it('are counted once by workers, whose samples are added up', () => {
    expect(read(table('1,000', '10 connections\n2 workers') + gnu('a'))?.answers).toBe(5000);
  });

  it('are unknown if they were pipelined', () => {
    const found = read(table('1,000', '10 connections with 4 pipelining factor') + gnu('a'));
    expect(found).not.toHaveProperty('answers');
  });
});

describe('the processes that a pasted report covers', () => {
  it('are found by its figures', () => {
    expect(PLAIN.map(({ cover }) => cover.processes)).toEqual(['tree', 'without the server', 'tree', 'tree']);
  });

  it('are the launcher if there is too little CPU and no message', () => {
    expect(PLAIN[1]?.cover).toMatchObject({ launcher: 'pnpm run', silent: true });
    expect(PLAIN[1]?.cover.impossibleUs).toBeCloseTo(3.03, 2);
    expect(PLAIN[1]).not.toHaveProperty('cpuUsPerAnswer');
  });

  it('are more than the direct child if its cycles are too few for the CPU time', () => {
    expect(PLAIN[2]?.cover.clockHertz).toBeCloseTo(170.3e6, -5);
    expect(PLAIN[1]?.cover).not.toHaveProperty('clockHertz');
  });

  it.each([
    ['node server.js', 'server', undefined],
    ['/usr/bin/env python -m uvicorn app:app', 'server', undefined],
    ['PORT=80 npm start', 'tree', 'npm start'],
    ['uv run uvicorn app:app', 'tree', 'uv run'],
    ['/bin/sh -c ./server', 'tree', 'sh'],
    ['npx autocannon http://localhost', 'generator', 'npx'],
  ])('of GNU time(1) around %s are: %s', (command, processes, launcher) => {
    const { cover } = read(table('1,000') + gnu(command)) ?? {};
    expect(cover?.processes).toBe(processes);
    expect(cover?.launcher).toBe(launcher);
  });

  it('are unknown for a launcher without answers to compare with', () => {
    expect(read(gnu('pnpm start'))?.cover.processes).toBe('unknown');
  });
});
