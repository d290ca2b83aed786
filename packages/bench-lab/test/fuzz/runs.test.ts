/** Received runs: near to a right one, or with other bytes. They are shown, or refused with words, and nothing is written beside them. */
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BenchError } from 'bench-model/errors';
import { readRun } from 'bench-analysis/results/store';
import { renderJson } from 'bench-report/json';
import { describeDetail } from 'bench-report/detail';
import { toModel } from 'bench-report/model/model';
import { renderClosing, renderTerminal } from 'bench-report/terminal';
import { toView } from 'bench-report/view';
import { documentsLike, takeMany, textsLike } from './mutate.ts';

const GOLDEN = fileURLToPath(new URL('../../testing/fixtures/run/', import.meta.url));

let place = '';
let folder = '';
beforeAll(() => {
  place = mkdtempSync(join(tmpdir(), 'bench-fuzz-'));
  folder = join(place, 'run');
  cpSync(GOLDEN, folder, { recursive: true });
});
afterAll(() => rmSync(place, { recursive: true, force: true }));

const text = (name: string): string => readFileSync(join(GOLDEN, name), 'utf8');
const [first = '', second = ''] = text('trials.jsonl').split('\n');

/** Shows the run in each way. */
function show(): void {
  const run = readRun(folder);
  if (run.trials.length === 0) return;
  const model = toModel(run, { distributions: true });
  for (const detail of [false, true]) {
    const { closing, ...view } = toView(model, { detail });
    const shown = renderTerminal(view, {}) + (closing === undefined ? '' : renderClosing(closing, {}));
    // A run that was received must not move the cursor of a terminal, or set its title.
    // oxlint-disable-next-line no-control-regex
    expect(shown).not.toMatch(/[\u0000-\u0008\u000B-\u001A\u001C-\u001F\u007F]|\u001B(?!\[[\d;]*m)/);
  }
  describeDetail(run.trials);
  renderJson(model, run.trials);
}

function refuses(): void {
  try {
    show();
  } catch (error) {
    if (!(error instanceof BenchError)) throw error;
  }
}

describe('a received run', () => {
  it.each(['run.json', 'host.json'])('whose %s is spoilt is shown, or refused with words', async (name) => {
    const good = text(name);
    const inputs = fc.oneof(
      documentsLike([JSON.parse(good)]).map((document) => JSON.stringify(document) ?? ''),
      textsLike([good]),
    );
    await takeMany(inputs, (input) => {
      writeFileSync(join(folder, name), input);
      refuses();
    });
    writeFileSync(join(folder, name), good);
    expect(readdirSync(place)).toEqual(['run']);
  });

  it('with a spoilt record is shown, or refused with words', async () => {
    const inputs = fc.oneof(
      {
        weight: 4,
        arbitrary: documentsLike([JSON.parse(first)]).map((document) => JSON.stringify(document) ?? ''),
      },
      { weight: 1, arbitrary: textsLike([first]) },
    );
    await takeMany(inputs, (input) => {
      writeFileSync(join(folder, 'trials.jsonl'), `${input}\n${second}\n`);
      refuses();
    });
    expect(readdirSync(folder).toSorted()).toEqual(['host.json', 'run.json', 'trials.jsonl']);
  });
});
