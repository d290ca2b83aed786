/** Python programs of Bench itself. Each has an environment like that of a stack. */
import { join } from 'node:path';
import { PLAIN_VARIANT, type Stack } from 'bench-model/stack';
import { ROOT } from './stacks.ts';

/** Describes the program in `python/<name>`. `variants` has the words after `python`, by variant; the first one is the default. */
export function pythonProgram(name: string, framework: string, variants: Record<string, string[]>): Stack {
  return {
    name,
    language: 'python',
    framework,
    runtime: 'python',
    build: [],
    shares: [],
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
