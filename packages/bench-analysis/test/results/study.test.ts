import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { appendProcess, createStudy, findStudy, readStudy } from '../../src/results/study/store.ts';
import { STUDY_SCHEMA } from 'bench-model/versions';
import {
  errorOf,
  readGoldenRun,
  sampleStudiedProcess,
  sampleStudy,
} from '../../../bench-lab/testing/samples.ts';

const { host } = readGoldenRun();
let parent = '';
beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), 'bench-study-'));
});
afterEach(() => rmSync(parent, { recursive: true }));

describe('a stored study', () => {
  it('is read as it was written, without a process whose line is incomplete', () => {
    const processes = [sampleStudiedProcess('a', [1.5, 1]), sampleStudiedProcess('a', [], { status: 'cut' })];
    const folder = createStudy(sampleStudy(['a']), host, parent);
    for (const one of processes) appendProcess(folder, one);
    appendFileSync(join(folder, 'processes.jsonl'), '{"schema":1,"id":"00');
    expect(findStudy(folder)).toBe(folder);
    expect(findStudy(parent)).toBeUndefined();
    expect(readStudy(folder)).toEqual({ folder, file: sampleStudy(['a']), host, processes });
  });

  it.each([
    ['a line of another version', { schema: STUDY_SCHEMA + 1 }, `has schema ${STUDY_SCHEMA + 1}`],
    ['an unknown field', { schema: STUDY_SCHEMA, more: true }, 'is missing'],
  ])('with %s is rejected, naming file and line', (_, line, words) => {
    const folder = createStudy(sampleStudy(['a']), host, parent);
    appendProcess(folder, sampleStudiedProcess('a', [1]));
    writeFileSync(join(folder, 'processes.jsonl'), `${JSON.stringify(line)}\n`, { flag: 'a' });
    const { message } = errorOf(() => readStudy(folder));
    expect(message).toContain('processes.jsonl:2');
    expect(message).toContain(words);
  });

  it('without one of its files is rejected, naming that file', () => {
    const folder = createStudy(sampleStudy(['a']), host, parent);
    rmSync(join(folder, 'host.json'));
    expect(errorOf(() => readStudy(folder)).message).toMatch(
      /host\.json: cannot be read: ENOENT: no such file/,
    );
  });
});
