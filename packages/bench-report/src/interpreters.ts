/** Interpreters in words: the build of each, and unlike builds in a comparison. */
import { findUnlikeBuilds, valueOf, type BuildProperty, type NamedInterpreter } from 'bench-analysis/builds';
import type { BuildOption, Interpreter } from 'bench-model/target';
import type { StoredRun } from 'bench-analysis/results/store';
import type { ModelServer } from './model/model.ts';
import { listAll } from './words.ts';

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

/** `CPython 3.14.6, PGO, LTO, BOLT, tail calls, Clang 22.1.3`. */
export function describeInterpreter(interpreter: Interpreter): string {
  return [`${interpreter.implementation} ${interpreter.version}`, ...describeBuild(interpreter)].join(', ');
}

/** The interpreter of a server with its build; its runtime as it was found if that is not known; a dash for a binary. */
export function describeRuntime({ interpreter, runtime }: ModelServer): string {
  if (interpreter !== undefined) return describeInterpreter(interpreter);
  return runtime === undefined ? '—' : `${runtime.kind} ${runtime.version}`;
}

function describeBuild(interpreter: Interpreter): string[] {
  const { implementation, compiler, optimisation } = interpreter;
  const options = (Object.keys(OPTIONS) as BuildOption[]).flatMap((option) => {
    const isOn = interpreter[option];
    if (isOn === true) return OPTIONS[option];
    return isOn === false && implementation === 'CPython' && USUAL.has(option) ? `no ${OPTIONS[option]}` : [];
  });
  return [
    ...(optimisation === undefined || optimisation === USUAL_LEVEL ? [] : [optimisation]),
    ...options,
    ...(compiler === undefined ? [] : [compiler]),
  ];
}

/** Lists the interpreters of the servers of a run whose builds are known, in one line; empty if there is none. */
export function describeInterpreters(servers: readonly ModelServer[]): string[] {
  const told = servers.flatMap(({ interpreter }) =>
    interpreter !== undefined && describeBuild(interpreter).length > 0
      ? [describeInterpreter(interpreter)]
      : [],
  );
  const different = [...new Set(told)];
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

/** Says which servers of a run have interpreters of unlike builds; empty if the builds are alike or not known. */
export function explainBuilds(servers: readonly ModelServer[]): string[] {
  return describeUnlike(
    servers.flatMap(({ target, interpreter }) =>
      interpreter === undefined ? [] : [{ name: target.id, interpreter }],
    ),
  );
}

/** Says which targets of two runs had interpreters of unlike builds; empty if the builds are alike or not known. */
export function explainBuildsBetween(old: StoredRun, now: StoredRun): string[] {
  const [then, here] = [interpretersOf(old), interpretersOf(now)];
  const unlike = [...then].flatMap(([target, before]) => {
    const after = here.get(target);
    if (after === undefined) return [];
    const pair = [
      { target, run: old.plan.run, interpreter: before },
      { target, run: now.plan.run, interpreter: after },
    ];
    return findUnlikeBuilds(pair.map(({ run: name, interpreter }) => ({ name, interpreter }))).length > 0
      ? pair
      : [];
  });
  const byRun = unlike.map(({ run: name, interpreter }) => ({ name, interpreter }));
  const runs = findUnlikeBuilds(byRun).flatMap(({ groups }) =>
    groups.flatMap((group) => [...new Set(group.map(({ name }) => name))]),
  );
  // A run with several builds is not one of them.
  const isClear = new Set(runs).size === runs.length;
  return describeUnlike(
    isClear
      ? byRun
      : unlike.map(({ target, run, interpreter }) => ({ name: `${target} of ${run}`, interpreter })),
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
  return findUnlikeBuilds(all).map(({ properties, groups }) => {
    const names = nameGroups(groups);
    const parts = groups.map((group, index) => {
      const { name, isOne } = names[index] as GroupName;
      const builds = isOne ? 'a build' : 'builds';
      const where = index === 0 ? `ran on ${builds}` : isOne ? 'on one' : 'on builds';
      return `${name} ${where} ${describeProperties(group, properties)}`;
    });
    const versions = groups.map((group) => [...new Set(group.map(versionOf))].toSorted().join());
    const alone = new Set(versions).size > 1 ? ', not to the versions alone' : '';
    return `${parts.join(', ')}: the difference is also due to the builds${alone}.`;
  });
}

interface GroupName {
  name: string;
  isOne: boolean;
}

/** More interpreters than this are called by their versions. */
const MOST_NAMED = 2;

/** Names the interpreters of each group: by their targets if there are few, else by their versions if these differ. */
function nameGroups(groups: readonly NamedInterpreter[][]): GroupName[] {
  const targets = groups.map((group) => [...new Set(group.map(({ name }) => name))]);
  const versions = groups.map((group) => [...new Set(group.map(versionOf))]);
  const areFew = targets.every((names) => names.length <= MOST_NAMED);
  const areDistinct = new Set(versions.flat()).size === versions.flat().length;
  return groups.map(([first], index) => {
    const [own = [], numbers = []] = [targets[index], versions[index]];
    if (!areFew && areDistinct)
      return {
        name: `${first?.interpreter.implementation} ${listAll(numbers)}`,
        isOne: numbers.length === 1,
      };
    const rest = own.length - MOST_NAMED;
    const shown = rest > 0 ? [...own.slice(0, MOST_NAMED), `${rest} more`] : own;
    return { name: listAll(shown), isOne: own.length === 1 };
  });
}

function versionOf({ interpreter }: NamedInterpreter): string {
  return interpreter.version;
}

/** `with PGO and LTO, compiled by Clang`; missing options are named if they are usual, or if nothing else differs. */
function describeProperties([first]: NamedInterpreter[], properties: readonly BuildProperty[]): string {
  const { interpreter } = first as NamedInterpreter;
  const values = new Map(properties.map((property) => [property, valueOf(interpreter, property)]));
  const differing = (Object.keys(OPTIONS) as BuildOption[]).filter((option) => values.has(option));
  const isUsual = differing.some((option) => USUAL.has(option));
  const listed = (isOn: boolean): string[] =>
    differing
      .filter((option) => values.get(option) === isOn && (isOn || !isUsual || USUAL.has(option)))
      .map((option) => OPTIONS[option]);
  const [present, missing] = [listed(true), listed(false)];
  const level = values.get('optimisation');
  const compiler = values.get('compiler');
  return [
    present.length > 0 ? `with ${listAll(present)}` : '',
    missing.length > 0 ? `without ${listAll(missing)}` : '',
    level === undefined ? '' : `at ${level}`,
    compiler === undefined ? '' : `by ${compiler}`,
  ]
    .filter(Boolean)
    .join(' ');
}
