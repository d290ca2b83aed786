import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { renderJson } from '../src/json.ts';
import { renderMarkdown } from '../src/markdown.ts';
import { toOutput, toPrintable } from '../src/printable.ts';
import { describeTrial } from '../src/progress.ts';
import { renderTerminal } from '../src/terminal.ts';
import { toModel } from '../src/model/model.ts';
import { toView } from '../src/view.ts';
import { failedTrial, readGoldenRun } from '../../bench-lab/testing/samples.ts';

const ROOT = join(import.meta.dirname, '../../..');
/** Sets the terminal title, clears the screen (7-bit and 8-bit), returns to the start of the line, and reverses the following text. */
const HOSTILE = '\u001B]0;owned\u0007 \u001B[2J \u009B2J\u0085 \rok \u202Eko\u0000';
const SHOWN = String.raw`\u001b]0;owned\u0007 \u001b[2J \u009b2J\u0085 \u000dok \u202eko\u0000`;
const run = readGoldenRun();
const trial = { ...failedTrial('x', `it said: ${HOSTILE}\n[2/2] x: ok`), logTail: [HOSTILE] };
const source = { ...run, trials: [trial] };

describe('the output of a server', () => {
  it('is shown with its control characters escaped', () => {
    expect(toPrintable(`${HOSTILE}\nnext`)).toBe(`${SHOWN}\nnext`);
    expect(toPrintable('µs — ≥ 12,3 │ é 👍🏽')).toBe('µs — ≥ 12,3 │ é 👍🏽');
  });

  it('cannot add a line to the progress or to a report', () => {
    expect(toOutput(describeTrial(trial, 1, 2))).toMatch(/: failed — it said: .*\[2\/2\] x: ok$/);
    for (const render of [renderTerminal, renderMarkdown]) {
      const text = toOutput(render(toView(toModel(source))));
      expect(text).toContain(`it said: ${SHOWN} [2/2] x: ok`);
      // oxlint-disable-next-line no-control-regex
      expect(text).not.toMatch(/[\u0000-\u0009\u000B-\u001F\u007F-\u009F]/);
    }
  });

  it('is unchanged in a JSON document, whose text contains no control characters', () => {
    const text = toPrintable(renderJson(toModel(source, { distributions: true }), source.trials));
    // oxlint-disable-next-line no-control-regex
    expect(text).not.toMatch(/[\u0000-\u0009\u000B-\u001F\u007F-\u009F]/);
    expect(JSON.parse(text)).toMatchObject({ trials: [{ logTail: [HOSTILE] }] });
  });
});

it('only shell.ts writes to the terminal, no other script or command', () => {
  const wrong = globSync(['scripts/*.ts', 'packages/bench*/src/{terminal,conduct,cli,commands}/*.ts'], {
    cwd: ROOT,
  }).filter((file) =>
    /process\.std(out|err)\.write|console\.|process\.std(out|err)\b\)/.test(
      readFileSync(join(ROOT, file), 'utf8'),
    ),
  );
  expect(wrong).toEqual(['packages/bench/src/terminal/shell.ts']);
});
