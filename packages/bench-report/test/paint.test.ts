import { WriteStream } from 'node:tty';
import { stripVTControlCharacters } from 'node:util';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { toModel } from '../src/model/model.ts';
import { paintFor, plain } from '../src/paint.ts';
import { renderTerminal } from '../src/terminal.ts';
import { toView } from '../src/view.ts';
import { readGoldenRun } from '../../bench-lab/testing/samples.ts';

/** A stream that is a terminal, or a file. */
const stream = (isTTY: boolean) =>
  Object.assign(Object.create(WriteStream.prototype), { isTTY }) as WriteStream;

afterEach(() => {
  vi.unstubAllEnvs();
});

function allowColour(): void {
  for (const name of ['NO_COLOR', 'FORCE_COLOR', 'NODE_DISABLE_COLORS', 'CI']) vi.stubEnv(name, undefined);
  vi.stubEnv('TERM', 'xterm-256color');
}

describe('paintFor', () => {
  it('colours a terminal, but no file', () => {
    allowColour();
    expect(paintFor(stream(true))('bad', 'failed')).toBe('\u001B[31mfailed\u001B[39m');
    expect(paintFor(stream(false))('bad', 'failed')).toBe('failed');
  });

  it('honours NO_COLOR', () => {
    allowColour();
    vi.stubEnv('NO_COLOR', '1');
    expect(paintFor(stream(true))('bad', 'failed')).toBe('failed');
  });
});

describe('a report in colour', () => {
  const view = toView(toModel(readGoldenRun()));
  const layout = { width: 100 };

  it('has the same text as one without', () => {
    allowColour();
    const coloured = renderTerminal(view, { ...layout, paint: paintFor(stream(true)) });
    expect(coloured).toContain('\u001B[33m');
    expect(stripVTControlCharacters(coloured)).toBe(renderTerminal(view, { ...layout, paint: plain }));
  });

  it('has no control character that a server sent', () => {
    const rows = [['\u001B]0;owned\u0007', ...view.columns.slice(1)]];
    const hostile = { ...view, title: '\u001B[2J', groups: [{ heading: '\u001B[31mred', rows }] };
    const text = renderTerminal(hostile, layout);
    // oxlint-disable-next-line no-control-regex
    expect(text).not.toMatch(/[\u0000-\u0009\u000B-\u001F\u007F-\u009F]/);
    expect(text).toContain(String.raw`\u001b]0;owned\u0007`);
  });
});
