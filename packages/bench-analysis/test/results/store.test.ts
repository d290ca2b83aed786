import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { HOME } from 'bench-machine/home';
import {
  appendTrials,
  createRun,
  keepStops,
  findRun,
  listRuns,
  mendRun,
  readRun,
  sizeOf,
  versionDifferences,
  writeReport,
} from '../../src/results/store.ts';
import type { RunFile } from 'bench-model/run';
import { RECORD_SCHEMA, RUN_SCHEMA } from 'bench-model/versions';
import {
  errorOf,
  failedTrial,
  okTrial,
  readGoldenRun,
  sampleMeasured,
  samplePlan,
} from '../../../bench-lab/testing/samples.ts';

// The store keeps runs inside the repository. These tests use a temporary folder instead.
const PLACE = mkdtempSync(join(tmpdir(), 'bench-store-'));
const RESULTS = join(PLACE, 'results');
const home = { ...HOME };
beforeAll(() => void Object.assign(HOME, { root: PLACE, results: RESULTS }));
afterAll(() => {
  Object.assign(HOME, home);
  rmSync(PLACE, { recursive: true });
});
beforeEach(() => mkdirSync(join(RESULTS, 'published'), { recursive: true }));
afterEach(() => rmSync(RESULTS, { recursive: true, force: true }));

const { host } = readGoldenRun();

function runOf(id: string): RunFile {
  return {
    schema: RUN_SCHEMA,
    plan: { ...samplePlan(''), run: id },
    versions: { node: '26' },
    leftOut: [],
  };
}

/** Judged as today: nothing says what its server used. */
const judged = { given: { limit: 'unknown' as const } };
const trials = [
  okTrial('a', sampleMeasured({ goodput: 5, cpu: 7, ...judged })),
  failedTrial('b', 'it died'),
  okTrial('c', sampleMeasured(judged)),
];
const stored = JSON.parse(JSON.stringify(trials)) as typeof trials;

/** Creates a run with these three trials, and returns its folder and the file of its trials. */
function makeRun(id = 'a-run'): { folder: string; lines: string } {
  const folder = createRun(runOf(id), host);
  appendTrials(folder, trials);
  return { folder, lines: join(folder, 'trials.jsonl') };
}

const refuse = (call: () => unknown) => {
  const error = errorOf(call);
  expect([error.code, error.exitCode, error.hint === undefined]).toEqual(['usage', 2, false]);
  return error;
};

describe('a stored run', () => {
  it('is kept apart from the runs of the repository by these tests', () => {
    expect(HOME.results).toBe(RESULTS);
  });

  it('is read back unchanged, with all its trials', () => {
    const { folder } = makeRun();
    expect(readRun(folder)).toEqual({
      ...JSON.parse(JSON.stringify(runOf('a-run'))),
      folder,
      host,
      trials: stored,
    });
  });

  it('keeps the rounds after which it was stopped', () => {
    const { folder } = makeRun();
    const run = readRun(folder);
    keepStops(folder, [8]);
    expect(readRun(folder)).toEqual({ ...run, stops: [8] });
  });

  it('has no trials when it is new', () => {
    expect(readRun(createRun(runOf('a-run'), host)).trials).toEqual([]);
  });

  it('cannot be created in a place that is not writable', () => {
    rmSync(RESULTS, { recursive: true });
    writeFileSync(RESULTS, 'in the way');
    const { message, hint } = refuse(() => createRun(runOf('a-run'), host));
    expect(message).toContain(join(RESULTS, 'a-run'));
    expect(message).toContain('cannot be written');
    expect(hint).toContain('a writable folder');
  });

  it('cannot be created in a folder that is there: its files would be those of somebody else', () => {
    const folder = join(RESULTS, 'a-run');
    mkdirSync(folder);
    symlinkSync(join(PLACE, 'outside.txt'), join(folder, 'trials.jsonl'));
    expect(refuse(() => makeRun()).message).toMatch(/a-run exists$/);
    expect(existsSync(join(PLACE, 'outside.txt'))).toBe(false);
  });

  it('has the total size of its files', () => {
    const { folder } = makeRun();
    const bytes = ['run.json', 'host.json', 'trials.jsonl'].map(
      (name) => readFileSync(join(folder, name)).length,
    );
    expect(sizeOf(folder)).toBe(bytes.reduce((sum, size) => sum + size));
  });
});

describe('a run whose harness was killed', () => {
  const torn = '{"schema":2,"id":"004-d","sta';

  it('loses only the trial in progress', () => {
    const { folder, lines } = makeRun();
    appendFileSync(lines, torn);
    expect(readRun(folder).trials).toEqual(stored);
  });

  it('is repaired before it resumes, so that the next trial starts on a new line', () => {
    const { folder, lines } = makeRun();
    const whole = readFileSync(lines, 'utf8');
    appendFileSync(lines, torn);
    mendRun(folder);
    expect(readFileSync(lines, 'utf8')).toBe(whole);
    mendRun(folder);
    expect(readFileSync(lines, 'utf8')).toBe(whole);
    appendTrials(folder, [trials[0]!]);
    expect(readRun(folder).trials).toEqual([...stored, stored[0]]);
  });

  it('keeps a last record that lacks only its line feed', () => {
    const { folder, lines } = makeRun();
    const whole = readFileSync(lines, 'utf8');
    writeFileSync(lines, whole.trimEnd());
    expect(readRun(folder).trials).toEqual(stored);
    mendRun(folder);
    expect(readFileSync(lines, 'utf8')).toBe(whole);
  });

  it('is repaired if it was killed during or before its first trial', () => {
    const { folder, lines } = makeRun();
    writeFileSync(lines, torn);
    mendRun(folder);
    expect(readRun(folder).trials).toEqual([]);
    rmSync(lines);
    mendRun(folder);
    expect(existsSync(lines)).toBe(false);
  });
});

describe('a run that cannot be read', () => {
  it.each([
    ['is not JSON', '{"schema":2,', /^cannot be read: .+$/],
    ['is empty', '', /^cannot be read: .+$/],
    ['is null', 'null', /^not a trial record: schema is missing$/],
    ['is a number', '7', /^not a trial record: schema is missing$/],
    ['is not a trial', '{"schema":2,"id":"x"}', /^not a trial record: run is missing$/],
  ])('names the file and the number of a line that %s', (_what, line, problem) => {
    const { folder, lines } = makeRun();
    const [first = '', ...rest] = readFileSync(lines, 'utf8').split('\n');
    writeFileSync(lines, [first, line, ...rest].join('\n'));
    const { message } = refuse(() => readRun(folder));
    expect(message.slice(0, lines.length)).toBe(lines);
    expect(message.slice(lines.length, lines.length + 4)).toBe(':2: ');
    expect(message.slice(lines.length + 4)).toMatch(problem);
  });

  it('names the line of a trial with another schema', () => {
    const { folder, lines } = makeRun();
    appendFileSync(lines, `${JSON.stringify({ ...trials[0], schema: RECORD_SCHEMA + 1 })}\n`);
    expect(refuse(() => readRun(folder))).toMatchObject({
      message: `${lines}:4: has schema ${RECORD_SCHEMA + 1}, and this version of Bench reads only schema ${RECORD_SCHEMA}`,
      hint: 'if a newer version wrote it, update with git pull; otherwise, measure again',
    });
  });

  it('names the line of a trial with an unknown reason', () => {
    const { folder, lines } = makeRun();
    const reasons = [{ code: 'bad-luck', text: 'seen', invalidates: [] }];
    appendFileSync(lines, `${JSON.stringify({ ...trials[0], status: 'suspect', reasons })}\n`);
    expect(refuse(() => readRun(folder))).toMatchObject({
      message: `${lines}:4: not a trial record: unknown value "bad-luck" of reasons.0.code`,
      hint: expect.stringContaining('delete the line'),
    });
  });

  it.each([
    ['a string instead of a number', 'measured.load.goodputPerSecond', '5/s', 'must be number, not "5/s"'],
    ['a negative number', 'measured.load.counts.ok', -1, 'must be >= 0, not -1'],
    ['a missing field', 'measured.load.counts.reset', undefined, 'is missing'],
    ['a field that belongs to failed trials', 'partial', {}, 'does not belong to a trial of this status'],
  ])('names the line and the path of %s', (_what, path, value, problem) => {
    const { folder, lines } = makeRun();
    const trial = structuredClone(stored[0]) as unknown as Record<string, unknown>;
    const keys = path.split('.');
    const last = keys.pop() ?? '';
    const parent = keys.reduce((object, key) => object[key] as Record<string, unknown>, trial);
    if (value === undefined) delete parent[last];
    else parent[last] = value;
    appendFileSync(lines, `${JSON.stringify(trial)}\n`);
    expect(refuse(() => readRun(folder))).toMatchObject({
      message: `${lines}:4: not a trial record: ${path} ${problem}`,
      hint: 'delete the line to lose only that trial; --resume then measures it again',
    });
  });

  it.each([
    ['run.json', { rounds: 0 }, 'not a plan: plan.rounds must be >= 1, not 0'],
    ['run.json', { rouns: 1 }, 'not a plan: unknown field plan.rouns'],
  ])('names the field in %s that violates the schema', (name, part, problem) => {
    const run = runOf('a-run');
    const folder = createRun({ ...run, plan: { ...run.plan, ...part } }, host);
    expect(refuse(() => readRun(folder)).message).toBe(`${join(folder, name)}: ${problem}`);
  });

  it('names the field in host.json that violates the schema', () => {
    const folder = createRun(runOf('a-run'), { ...host, cores: 0 });
    expect(refuse(() => readRun(folder)).message).toBe(
      `${join(folder, 'host.json')}: not a host description: cores must be >= 1, not 0`,
    );
  });

  it('says that run.json has another schema', () => {
    const folder = createRun({ ...runOf('a-run'), schema: RUN_SCHEMA + 1 }, host);
    expect(refuse(() => readRun(folder)).message).toMatch(/run\.json: has schema 3, and this version/);
  });

  it.each(['run.json', 'host.json'])('names %s if it is broken or missing', (name) => {
    for (const [index, text] of ['{', 'null', ''].entries()) {
      const { folder } = makeRun(`run-${index}`);
      writeFileSync(join(folder, name), text);
      expect(refuse(() => readRun(folder)).message).toContain(`${name}: `);
    }
    const { folder } = makeRun();
    rmSync(join(folder, name));
    expect(refuse(() => readRun(folder)).message).toContain(`${name}: `);
  });
});

describe('findRun', () => {
  it('finds a run by its id, published or not, and by its path', () => {
    const { folder } = makeRun('20261120-100000-devices');
    const published = createRun(runOf('published/20261119-100000-devices'), host);
    const elsewhere = mkdtempSync(join(tmpdir(), 'bench-run-'));
    writeFileSync(join(elsewhere, 'run.json'), '{}');
    expect(findRun('20261120-100000-devices')).toBe(folder);
    expect(findRun('20261119-100000-devices')).toBe(published);
    expect(findRun(elsewhere)).toBe(elsewhere);
    rmSync(elsewhere, { recursive: true });
  });

  it('lists the runs of a folder, oldest first', () => {
    createRun(runOf('20261118-100000-devices'), host);
    createRun(runOf('20261120-100000-devices'), host);
    createRun(runOf('published/20261119-100000-devices'), host);
    mkdirSync(join(RESULTS, 'no-run'));
    expect(listRuns()).toEqual(['20261118-100000-devices', '20261120-100000-devices']);
    expect(listRuns(join(RESULTS, 'published'))).toEqual(['20261119-100000-devices']);
    expect(listRuns(join(RESULTS, 'nowhere'))).toEqual([]);
  });

  it('finds the newest run by the word latest', () => {
    createRun(runOf('20261120-100000-devices'), host);
    const newest = createRun(runOf('20261121-090000-url'), host);
    expect(findRun('latest')).toBe(newest);
    rmSync(RESULTS, { recursive: true });
    const kept = createRun(runOf('20261120-100000-devices'), host);
    mkdirSync(join(RESULTS, 'published'));
    renameSync(kept, join(RESULTS, 'published', '20261120-100000-devices'));
    expect(refuse(() => findRun('latest'))).toMatchObject({
      message: expect.stringMatching(/ has no runs yet$/),
      hint: 'pnpm bench creates one',
    });
    expect(refuse(() => findRun('yesterday')).hint).toBe('there are 20261120-100000-devices');
  });

  it('suggests similar ids for an unknown id, or else the newest runs', () => {
    for (const id of ['20261120-100000-devices', '20261120-200000-devices', '20261120-300000-url'])
      createRun(runOf(id), host);
    expect(refuse(() => findRun('20261120-100001-devices'))).toMatchObject({
      message: 'unknown run "20261120-100001-devices"',
      hint: 'did you mean 20261120-100000-devices, 20261120-200000-devices?',
    });
    expect(refuse(() => findRun('lates')).hint).toBe('did you mean latest?');
    expect(refuse(() => findRun('yesterday')).hint).toBe(
      'the newest runs are 20261120-300000-url, 20261120-200000-devices, 20261120-100000-devices; latest means the first one',
    );
    rmSync(RESULTS, { recursive: true });
    expect(refuse(() => findRun('a-run')).hint).toBe('pnpm bench creates one');
  });
});

describe('versionDifferences', () => {
  it('finds none between equal versions', () => {
    expect(versionDifferences({ node: '26.1', fastify: 'x' }, { fastify: 'x', node: '26.1' })).toEqual([]);
  });

  it('lists changed, removed and added versions', () => {
    expect(
      versionDifferences({ node: '26.1', gone: '1', same: '=' }, { node: '26.2', same: '=', fresh: '2' }),
    ).toEqual(['node: 26.1 then, 26.2 now', 'gone: 1 then, absent now', 'fresh: absent then, 2 now']);
  });
});

describe('a received run with links', () => {
  const outside = join(PLACE, 'outside.txt');
  beforeEach(() => writeFileSync(outside, 'mine'));

  it('has its report replaced, not what a link points to', () => {
    const { folder } = makeRun();
    symlinkSync(outside, join(folder, 'report.html'));
    writeReport(folder, 'report.html', 'a report');
    expect(readFileSync(outside, 'utf8')).toBe('mine');
    expect(readFileSync(join(folder, 'report.html'), 'utf8')).toBe('a report');
  });
});
