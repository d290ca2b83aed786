/** Differences between the builds of interpreters, which can outweigh those between their versions. */
import type { BuildOption, Interpreter } from 'bench-model/target';

/** The properties of a build that figures depend on. */
export const BUILD_PROPERTIES = [
  'pgo',
  'lto',
  'bolt',
  'tailCalls',
  'pointerCompression',
  'assertions',
  'debug',
  'optimisation',
  'compiler',
] as const satisfies (BuildOption | keyof Interpreter)[];

export type BuildProperty = (typeof BUILD_PROPERTIES)[number];

/** An interpreter, and the name of a server or a run that used it. */
export interface NamedInterpreter {
  name: string;
  interpreter: Interpreter;
}

/** Builds of one implementation that differ. */
export interface UnlikeBuilds {
  /** The properties that differ. */
  properties: BuildProperty[];
  /** The interpreters by their builds, in the given order. Interpreters without any of these properties are left out. */
  groups: NamedInterpreter[][];
}

/**
 * Finds unlike builds among the interpreters of each implementation. A property differs if two known values do; of two
 * compilers only the kind counts, not the version.
 */
export function findUnlikeBuilds(all: readonly NamedInterpreter[]): UnlikeBuilds[] {
  const implementations = Map.groupBy(all, ({ interpreter }) => interpreter.implementation);
  return [...implementations.values()].flatMap((alike) => {
    const properties = BUILD_PROPERTIES.filter((property) => {
      const values = alike.map(({ interpreter }) => valueOf(interpreter, property));
      return new Set(values.filter((value) => value !== undefined)).size > 1;
    });
    if (properties.length === 0) return [];
    const told = ({ interpreter }: NamedInterpreter): (string | boolean | undefined)[] =>
      properties.map((property) => valueOf(interpreter, property));
    const groups = Map.groupBy(
      alike.filter((one) => told(one).some((value) => value !== undefined)),
      (one) => JSON.stringify(told(one).map((value) => value ?? null)),
    );
    return [{ properties, groups: [...groups.values()] }];
  });
}

/** Returns a property of a build; for the compiler only its first word, such as `GCC`. */
export function valueOf(interpreter: Interpreter, property: BuildProperty): string | boolean | undefined {
  return property === 'compiler' ? interpreter.compiler?.split(' ')[0] : interpreter[property];
}
