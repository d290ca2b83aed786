/** Targets and runtimes: their definitions, and the types derived from them. */
import { Type, type Static, type TBoolean, type TOptional } from 'typebox';
import {
  choice,
  command,
  flag,
  mapOf,
  namedShape,
  oneOf,
  ordinal,
  shape,
  text,
  texts,
} from './definitions.ts';

export const STACK_CLASSES = ['raw', 'framework', 'tuned'] as const;

/** The framework's share of the work: no framework, as documented, or hand-optimised. */
export type StackClass = (typeof STACK_CLASSES)[number];

const runtimeKind = oneOf(
  ['node', 'python', 'none'] as const,
  'The kind of runtime: none is a compiled binary.',
);

/** The kind of runtime that a stack needs: `none` is a compiled binary. */
export type RuntimeKind = Static<typeof runtimeKind>;

export const attestation = Type.Unsafe<Record<string, string | number | boolean | null>>({
  type: 'object',
  additionalProperties: { type: ['string', 'number', 'boolean', 'null'] },
});

/** Properties that must be true of the live server, or that it reports: one JSON value each. */
export type Attestation = Static<typeof attestation>;

const runtimeSpec = shape('The runtime as asked for.', {
  kind: runtimeKind,
  spec: text('As written: 3.13, 3.14t, 3.14+jit, 22, bun, or a path.'),
  byDefault: flag('True if nothing names or pins it.'),
  name: Type.Optional(text('Its name in tables.')),
});

export type RuntimeSpec = Static<typeof runtimeSpec>;

export const resolvedRuntime = namedShape('resolvedRuntime', 'The runtime as found.', {
  ...runtimeSpec.properties,
  version: text(),
  build: mapOf(Type.String(), 'The build in its own words: compiler, configure flags, engine version.'),
});

export type ResolvedRuntime = Static<typeof resolvedRuntime>;

const BUILD_OPTIONS = {
  pgo: 'Profile-guided optimisation.',
  lto: 'Link-time optimisation.',
  bolt: 'The binary was optimised by BOLT.',
  tailCalls: 'Bytecodes are dispatched by tail calls.',
  pointerCompression: 'V8 compresses pointers.',
  assertions: 'Internal assertions are compiled in.',
  debug: 'A debug build.',
};

/** A build option that is on or off. */
export type BuildOption = keyof typeof BUILD_OPTIONS;

export const interpreter = namedShape(
  'interpreter',
  'The interpreter that the live server ran, and its build as far as it reports it.',
  {
    implementation: text('Its name: CPython, node.'),
    version: text(),
    maker: Type.Optional(text('Who built it: Debian or Ubuntu, pyenv.')),
    compiler: Type.Optional(text('The compiler and its version.')),
    optimisation: Type.Optional(text('The optimisation level of the compiler: -O3.')),
    ...(Object.fromEntries(
      Object.entries(BUILD_OPTIONS).map(([name, description]) => [name, Type.Optional(choice(description))]),
    ) as Record<BuildOption, TOptional<TBoolean>>),
  },
);

export type Interpreter = Static<typeof interpreter>;

const REPETITIONS = ['a/a', 'background'] as const;

export const repeats = namedShape('repeats', 'The target that this one repeats.', {
  targetId: text('Id of the repeated target.'),
  kind: oneOf(
    REPETITIONS,
    'The only difference: none (--noise), or a request beside the load (--background).',
  ),
});

export const scale = namedShape('scale', 'The resources of its server (--scale).', {
  of: text('Id of the target of one worker, which may be itself.'),
  workers: ordinal('count: workers of its server'),
  threads: Type.Optional(ordinal('count: threads of each worker; absent if the stack chooses')),
  cores: ordinal('count: cores that its server may use'),
});

export type Scale = Static<typeof scale>;

export const copy = namedShape(
  'copy',
  'The version of the project that is measured, if it is not the project as it is.',
  {
    kind: oneOf(
      ['revision', 'working-tree', 'folder', 'setting'] as const,
      'A setting is the project with another command or other variables.',
    ),
    name: text('As typed: main, HEAD, ., ./a, WORKERS=4.'),
    commit: Type.Optional(text('Hash of the commit, or of that below a working tree.')),
    subject: Type.Optional(text('First line of the message of that commit.')),
    command: Type.Optional(command('The command of a setting; that of the project by default.')),
    env: Type.Optional(mapOf(Type.String(), 'The variables of a setting.')),
  },
);

export type Copy = Static<typeof copy>;

export const target = namedShape('target', 'The measured target: stack[/variant][@runtime].', {
  id: text('As written in tables: without what is the default.'),
  stack: text(),
  variant: text(),
  class: oneOf([...STACK_CLASSES, 'unknown'], "How much of the work is the framework's."),
  language: Type.String(),
  framework: Type.String(),
  runtime: Type.Optional(runtimeSpec),
  packages: Type.Optional(texts('Package versions or checkouts on top of the lock (--with).')),
  copy: Type.Optional(copy),
  repeats: Type.Optional(repeats),
  scale: Type.Optional(scale),
});

/** `stack[/variant][@runtime]`, resolved: one thing to be measured. */
export type Target = Static<typeof target>;
