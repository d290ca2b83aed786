/** Interpreters in words: the build of each, and unlike builds in a comparison. */
import { findUnlikeBuilds, type NamedInterpreter } from 'bench-analysis/builds';
import type { BuildOption, Interpreter } from 'bench-model/target';
import type { StoredRun } from 'bench-analysis/results/store';
import { countOf } from './format.ts';
import type { ModelServer } from './model/definition.ts';
import { listAll, listGiven } from './words.ts';

const OPTIONS: Record<BuildOption, string> = {
  pgo: 'PGO',
  lto: 'LTO',
  bolt: 'BOLT',
  tailCalls: 'tail calls',
  pointerCompression: 'pointer compression',
  assertions: 'assertions',
  debug: 'debug checks',
};

/** Options that every optimised build of CPython has, so a build without them is named so. */
const USUAL: ReadonlySet<string> = new Set(['pgo', 'lto'] satisfies BuildOption[]);
const USUAL_LEVEL = '-O3';

/** Engines of JavaScript by other names than Node. */
const OTHER_ENGINES = ['bun', 'deno'];

/** `CPython 3.14.6, PGO, LTO, BOLT, tail calls, Clang 22.1.3`. */
export function describeInterpreter(interpreter: Interpreter): string {
  return [`${interpreter.implementation} ${interpreter.version}`, ...describeBuild(interpreter)].join(', ');
}

/** A binary has neither. */
const NONE = '—';

/** The interpreter of a server with its build; its runtime as it was found if that is not known; a dash for a binary. */
export function describeRuntime({ interpreter, runtime }: ModelServer): string {
  if (interpreter === undefined && runtime === undefined) return NONE;
  const { kind = '', spec = '', version = '', build, byDefault } = runtime ?? {};
  const named = `${OTHER_ENGINES.includes(spec) ? spec : kind} ${version}`;
  return listGiven([
    interpreter === undefined ? named : describeInterpreter(interpreter),
    build?.['freethreaded'] === 'true' && 'without the GIL',
    byDefault && 'by default',
  ]).join(', ');
}

function describeBuild(interpreter: Interpreter): string[] {
  const { implementation, maker, compiler, optimisation } = interpreter;
  const options = (Object.keys(OPTIONS) as BuildOption[]).map((option) => {
    const isOn = interpreter[option];
    if (isOn === true) return OPTIONS[option];
    return isOn === false && implementation === 'CPython' && USUAL.has(option) && `no ${OPTIONS[option]}`;
  });
  return listGiven([
    maker && `by ${maker}`,
    optimisation !== USUAL_LEVEL && optimisation,
    ...options,
    compiler,
  ]);
}

/** Lists the interpreters of the servers of a run in one line; empty if there is none. */
export function describeInterpreters(servers: readonly ModelServer[]): string[] {
  const different = [...new Set(servers.map(describeRuntime))].filter((words) => words !== NONE);
  if (different.length === 0) return [];
  return [`${different.length === 1 ? 'interpreter' : 'interpreters'}: ${different.join('; ')}`];
}

/** Says that interpreters were built without profile-guided optimisation, and how to build one with it; empty if none was. */
export function adviseBuild(interpreters: readonly Interpreter[]): string[] {
  const slow = interpreters.filter(
    ({ pgo, implementation }) => pgo === false && implementation === 'CPython',
  );
  const [first] = slow;
  if (first === undefined) return [];
  const versions = listAll(slow.map(({ version }) => version));
  const line = first.version.split('.').slice(0, 2).join('.');
  return [
    `CPython ${versions} ${slow.length === 1 ? 'was' : 'were'} built without PGO, unlike most published builds. With pyenv: PYTHON_CONFIGURE_OPTS='--enable-optimizations --with-lto' pyenv install ${line}`,
  ];
}

/** Lists the interpreters of the servers of a run if their builds are unlike; empty if they are alike or not known. */
export function explainBuilds(servers: readonly ModelServer[]): string[] {
  return describeUnlike(
    servers.flatMap(({ target, interpreter }) =>
      interpreter === undefined ? [] : [{ name: target.id, interpreter }],
    ),
  );
}

/** Lists the interpreters of the targets that ran on unlike builds in two runs; empty if there are none, or if a build is not known. */
export function explainBuildsBetween(old: StoredRun, now: StoredRun): string[] {
  const [then, here] = [interpretersOf(old), interpretersOf(now)];
  return describeUnlike(
    [...then].flatMap(([target, before]) => {
      const after = here.get(target);
      if (after === undefined) return [];
      const pair = [
        { name: `${target} of ${old.plan.run}`, interpreter: before },
        { name: `${target} of ${now.plan.run}`, interpreter: after },
      ];
      return findUnlikeBuilds(pair).flat();
    }),
  );
}

function interpretersOf({ trials }: StoredRun): Map<string, Interpreter> {
  return new Map(
    trials.flatMap(({ target, interpreter }) =>
      interpreter === undefined ? [] : [[target.id, interpreter]],
    ),
  );
}

function describeUnlike(all: readonly NamedInterpreter[]): string[] {
  return findUnlikeBuilds(all).map((unlike) => {
    const builds = Map.groupBy(unlike, ({ interpreter }) => describeBuild(interpreter).join(', '));
    const listed = [...builds].map(([build, same]) => {
      const versions = new Set(same.map(({ interpreter: { version } }) => version));
      const names = [...new Set(same.map(({ name }) => name))];
      const used = names.length > MOST_NAMED ? countOf(names.length, 'target') : listAll(names);
      return `${same[0]?.interpreter.implementation} ${listAll([...versions])}, ${build} (${used})`;
    });
    return `Differences are also due to unlike builds of the interpreters: ${listed.join('; ')}.`;
  });
}

/** More targets of one build are counted. */
const MOST_NAMED = 2;
