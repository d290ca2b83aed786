/** The Python programs of Bench itself. Each has an environment like that of a stack. */
import { join } from 'node:path';
import { ROOT, targetsOf } from '../catalogue/stacks.ts';
import { PLAIN_VARIANT, type Stack } from 'bench-model/stack';
import { ToolchainError } from 'bench-model/errors';
import { HOME } from 'bench-machine/home';
import { prepareAll, type Prepared } from './prepare.ts';

/** Describes the program in `python/<name>`. `variants` has the words after `python`, by variant; the first one is the default. */
export function pythonProgram(name: string, framework: string, variants: Record<string, string[]>): Stack {
  return {
    name,
    language: 'python',
    framework,
    runtime: 'python',
    build: [],
    runtimes: [],
    default: Object.keys(variants)[0] ?? '',
    variants: Object.fromEntries(
      Object.entries(variants).map(([variant, words]) => [
        variant,
        { ...PLAIN_VARIANT, class: 'framework', command: ['{runtime}', ...words] },
      ]),
    ),
    root: join(ROOT, 'python', name),
    manifest: `python/${name}`,
  };
}

/** The use of a program. */
interface ProgramUse {
  /** Its name in errors. */
  id: string;
  /** Omit for the default variant. */
  variant?: string;
  /** The hint for users of the packed tool, which has no such programs. */
  elsewhere: string;
  log?: ((doing: string) => void) | undefined;
}

/** Prepares a Python program of Bench itself. Throws a toolchain error if its Python or a package is missing. */
export async function prepareProgram(program: Stack, use: ProgramUse): Promise<Prepared> {
  const { id, variant = program.default, elsewhere, log } = use;
  if (HOME.kind !== 'repository')
    throw new ToolchainError(`${id} is available only in the repository of Bench`, elsewhere);
  const targets = targetsOf(program).filter((one) => one.variant === variant);
  const named = targets.map((one) => ({ ...one, id }));
  const { prepared, missing } = await prepareAll(named, [program], log);
  const [found] = prepared;
  if (found === undefined) throw new ToolchainError(`${id}: ${missing[0]?.reason}`, missing[0]?.hint);
  return found;
}
