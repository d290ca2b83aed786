/** Differences between the builds of interpreters, which can outweigh those between their versions. */
import type { BuildOption, Interpreter } from 'bench-model/target';

/** The properties of a build that figures depend on. */
const BUILD_PROPERTIES = [
  'pgo',
  'lto',
  'bolt',
  'tailCalls',
  'pointerCompression',
  'assertions',
  'debug',
  'optimisation',
  'compiler',
  'maker',
] as const satisfies (BuildOption | keyof Interpreter)[];

type BuildProperty = (typeof BUILD_PROPERTIES)[number];

/** An interpreter, and the name of a server that used it. */
export interface NamedInterpreter {
  name: string;
  interpreter: Interpreter;
}

/**
 * Returns the interpreters of each implementation whose builds differ, without those of which none of the differing properties
 * is known. A property differs if two known values do; of two compilers only the kind counts, not the version.
 */
export function findUnlikeBuilds(all: readonly NamedInterpreter[]): NamedInterpreter[][] {
  const implementations = Map.groupBy(all, ({ interpreter }) => interpreter.implementation);
  return [...implementations.values()].flatMap((alike) => {
    const properties = BUILD_PROPERTIES.filter((property) => {
      const values = alike.map(({ interpreter }) => valueOf(interpreter, property));
      return new Set(values.filter((value) => value !== undefined)).size > 1;
    });
    if (properties.length === 0) return [];
    return [
      alike.filter(({ interpreter }) => properties.some((one) => valueOf(interpreter, one) !== undefined)),
    ];
  });
}

/** Returns a property of a build; for the compiler only its first word, such as `GCC`. */
function valueOf(interpreter: Interpreter, property: BuildProperty): string | boolean | undefined {
  return property === 'compiler' ? interpreter.compiler?.split(' ')[0] : interpreter[property];
}
