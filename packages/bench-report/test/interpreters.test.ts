import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { compareStored } from 'bench-http/commands/compare';
import type { Interpreter } from 'bench-model/target';
import {
  adviseBuild,
  describeInterpreter,
  describeInterpreters,
  explainBuilds,
  explainBuildsBetween,
} from '../src/interpreters.ts';
import { toModel } from '../src/model/model.ts';
import { renderMarkdown } from '../src/markdown.ts';
import { listNotes } from '../src/notes.ts';
import { toPage } from '../src/html/data.ts';
import { toView } from '../src/view.ts';
import type { StoredRun } from 'bench-analysis/results/store';
import { okTrial, readGoldenRun, sampleMeasured, samplePlan } from '../../bench-lab/testing/samples.ts';

const OFF = { pgo: false, lto: false, bolt: false, tailCalls: false, assertions: false, debug: false };

/** A CPython as pyenv builds it by default. */
function plain(version: string): Interpreter {
  return { implementation: 'CPython', version, compiler: 'GCC 12.2.0', optimisation: '-O3', ...OFF };
}

/** The same with every optimisation, by Clang. */
function optimised(version: string): Interpreter {
  return { ...plain(version), compiler: 'Clang 22.1.3', pgo: true, lto: true, bolt: true, tailCalls: true };
}

const NODE: Interpreter = {
  implementation: 'node',
  version: '26.10.0',
  pgo: false,
  lto: false,
  debug: false,
};

/** A run of these targets. */
function runOf(
  interpreters: Record<string, Interpreter | undefined>,
  id = '20261120-120000-devices',
): StoredRun {
  const names = Object.keys(interpreters);
  const plan = { ...samplePlan('--connections 10 --rounds 1', names), run: id };
  const trials = names.map((name) => {
    const interpreter = interpreters[name];
    return okTrial(name, sampleMeasured({ cpu: 100 }), interpreter === undefined ? {} : { interpreter });
  });
  return { ...readGoldenRun(), plan, trials, leftOut: [] };
}

const servers = (all: Record<string, Interpreter | undefined>) => toModel(runOf(all)).servers;
const notesOf = (all: Record<string, Interpreter | undefined>) => explainBuilds(servers(all));
const old = (interpreter?: Interpreter) => runOf({ a: interpreter, b: plain('3.13.0') }, 'old');
const now = (interpreter?: Interpreter) => runOf({ a: interpreter, c: optimised('3.14.6') }, 'now');

describe('an interpreter in words', () => {
  it.each<[string, Interpreter]>([
    ['CPython 3.14.6, PGO, LTO, BOLT, tail calls, Clang 22.1.3', optimised('3.14.6')],
    ['CPython 3.13.0, no PGO, no LTO, GCC 12.2.0', plain('3.13.0')],
    [
      'CPython 3.13.0, -O0, no PGO, no LTO, debug checks',
      { ...OFF, implementation: 'CPython', version: '3.13.0', optimisation: '-O0', debug: true },
    ],
    ['CPython 3.11.2, GCC 12.2.0', { implementation: 'CPython', version: '3.11.2', compiler: 'GCC 12.2.0' }],
    ['node 26.10.0', NODE],
    ['node 26.10.0, LTO, pointer compression', { ...NODE, lto: true, pointerCompression: true }],
  ])('is %s', (words, interpreter) => {
    expect(describeInterpreter(interpreter)).toBe(words);
  });

  it('appears once in the setting of a run, with its build if that is known', () => {
    expect(describeInterpreters(servers({ a: plain('3.13.0'), b: plain('3.13.0'), c: NODE }))).toEqual([
      'interpreters: CPython 3.13.0, no PGO, no LTO, GCC 12.2.0; node 26.10.0',
    ]);
    expect(describeInterpreters(servers({ a: NODE, b: undefined }))).toEqual(['interpreter: node 26.10.0']);
    expect(describeInterpreters(servers({ b: undefined }))).toEqual([]);
  });
});

const UNLIKE = 'Differences are also due to unlike builds of the interpreters: ';

const NOTE = `${UNLIKE}CPython 3.13.0, no PGO, no LTO, GCC 12.2.0 (a); CPython 3.14.6, PGO, LTO, BOLT, tail calls, Clang 22.1.3 (b).`;

describe('a comparison of unlike builds', () => {
  it('is noted in every format', () => {
    const model = toModel(runOf({ a: plain('3.13.0'), b: optimised('3.14.6') }));
    expect(listNotes(model, 'brief')).toContain(NOTE);
    expect(listNotes(model, 'full')).toContain(NOTE);
    expect(renderMarkdown(toView(model))).toContain(NOTE);
    expect(toPage(model)).toMatchObject({ notes: expect.arrayContaining([NOTE]) });
    expect(toPage(model).servers.map(({ words }) => words)).toEqual([
      'CPython 3.13.0, no PGO, no LTO, GCC 12.2.0',
      'CPython 3.14.6, PGO, LTO, BOLT, tail calls, Clang 22.1.3',
    ]);
  });

  it.each<[string, Record<string, Interpreter | undefined>]>([
    ['of versions with the same build', { a: plain('3.11.7'), b: plain('3.13.0') }],
    [
      'of two versions of one compiler',
      { a: plain('3.11.7'), b: { ...plain('3.13.0'), compiler: 'GCC 14.1.0' } },
    ],
    ['of two implementations', { a: optimised('3.14.6'), b: NODE }],
    ['with a record that does not know the build', { a: optimised('3.14.6'), b: undefined }],
    [
      'with an interpreter that does not tell it',
      { a: plain('3.13.0'), b: { implementation: 'CPython', version: '3.11.2', compiler: 'GCC 12.2.0' } },
    ],
  ])('is not found %s', (_, interpreters) => {
    expect(notesOf(interpreters)).toEqual([]);
  });

  it('is noted by compare, below a run that was measured on pyenv’s 3.13 and an optimised 3.14', () => {
    const run = fileURLToPath(new URL('../../bench-lab/testing/fixtures/two-builds', import.meta.url));
    const { marks } = compareStored([run]);
    expect(marks[0]).toEqual(
      expect.stringMatching(
        /CPython 3\.13\S*, no PGO.*\(fastapi@3\.13\); CPython 3\.14\S*, PGO.*\(fastapi@3\.14\)\.$/,
      ),
    );
  });

  it('names an optimisation that only one has', () => {
    expect(notesOf({ a: optimised('3.14.6'), b: { ...optimised('3.14.6'), bolt: false } })).toEqual([
      `${UNLIKE}CPython 3.14.6, PGO, LTO, BOLT, tail calls, Clang 22.1.3 (a); CPython 3.14.6, PGO, LTO, tail calls, Clang 22.1.3 (b).`,
    ]);
  });

  it('counts many targets of one build, and leaves out unknown builds', () => {
    const many = { a: plain('3.13.0'), b: plain('3.13.0'), c: plain('3.13.0'), d: optimised('3.14.6') };
    const silent: Interpreter = { implementation: 'CPython', version: '3.10.2' };
    expect(notesOf({ ...many, e: silent })).toEqual([
      `${UNLIKE}CPython 3.13.0, no PGO, no LTO, GCC 12.2.0 (3 targets); CPython 3.14.6, PGO, LTO, BOLT, tail calls, Clang 22.1.3 (d).`,
    ]);
  });
});

describe('two runs', () => {
  it('are noted for a target with unlike builds, and for no other', () => {
    expect(explainBuildsBetween(old(plain('3.13.0')), now({ ...plain('3.13.1'), pgo: true }))).toEqual([
      `${UNLIKE}CPython 3.13.0, no PGO, no LTO, GCC 12.2.0 (a of old); CPython 3.13.1, PGO, no LTO, GCC 12.2.0 (a of now).`,
    ]);
    expect(explainBuildsBetween(old(plain('3.13.0')), now(plain('3.14.0')))).toEqual([]);
  });

  it('are noted if both had several builds', () => {
    const [slow, fast] = [plain('3.13.0'), { ...plain('3.13.0'), pgo: true }];
    const [before, after] = [runOf({ a: slow, b: fast }, 'old'), runOf({ a: fast, b: slow }, 'now')];
    expect(explainBuildsBetween(before, after)).toEqual([
      `${UNLIKE}CPython 3.13.0, no PGO, no LTO, GCC 12.2.0 (a of old and b of now); CPython 3.13.0, PGO, no LTO, GCC 12.2.0 (a of now and b of old).`,
    ]);
  });

  it('claim nothing if one does not know the build', () => {
    expect(explainBuildsBetween(old(), now(optimised('3.14.6')))).toEqual([]);
  });
});

describe('adviseBuild', () => {
  it('says in one line how to build with PGO', () => {
    expect(adviseBuild([plain('3.12.1'), plain('3.13.0'), optimised('3.14.6'), NODE])).toEqual([
      expect.stringMatching(/^CPython 3\.12\.1 and 3\.13\.0 were built without PGO.* pyenv install 3\.12$/),
    ]);
  });

  it('is silent if PGO is present, or not known', () => {
    expect(
      adviseBuild([optimised('3.14.6'), { implementation: 'CPython', version: '3.11.2' }, NODE]),
    ).toEqual([]);
  });
});
