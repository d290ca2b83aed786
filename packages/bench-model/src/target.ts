/** Targets and runtimes: their definitions, and the types derived from them. */
import { Type, type Static, type TBoolean, type TOptional } from 'typebox';
import { command, flag, mapOf, named, oneOf, ordinal, shape, text, texts } from './definitions.ts';

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

const runtimeSpec = shape(
  {
    kind: runtimeKind,
    spec: text('As written: 3.13, 3.14t, 3.14+jit, 22, bun, or a path.'),
    byDefault: flag('True if nothing names or pins it.'),
    name: Type.Optional(text('Its name in tables: chosen by the user, or the version of one given by path.')),
  },
  { description: 'The runtime as asked for; absent for a binary and for a server that was already running.' },
);

/** A runtime as asked for on the command line. */
export type RuntimeSpec = Static<typeof runtimeSpec>;

export const resolvedRuntime = named(
  'resolvedRuntime',
  shape(
    {
      ...runtimeSpec.properties,
      version: text(),
      build: mapOf(Type.String(), 'The build in its own words: compiler, configure flags, engine version.'),
    },
    { description: 'The runtime as found; absent for a binary and for a server that was already running.' },
  ),
);

/** A runtime as found on this machine. */
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

export const interpreter = named(
  'interpreter',
  shape(
    {
      implementation: text('Its name: CPython, node.'),
      version: text(),
      maker: Type.Optional(
        text('Who built it, as it tells itself: Debian or Ubuntu, pyenv, python-build-standalone.'),
      ),
      compiler: Type.Optional(text('The compiler and its version.')),
      optimisation: Type.Optional(text('The optimisation level of the compiler: -O3.')),
      ...(Object.fromEntries(
        Object.entries(BUILD_OPTIONS).map(([name, description]) => [
          name,
          Type.Optional(Type.Boolean({ description })),
        ]),
      ) as Record<BuildOption, TOptional<TBoolean>>),
    },
    {
      description:
        'The interpreter that the live server ran, and its build as that interpreter reports it. An option that it does not report is absent.',
    },
  ),
);

/** The interpreter that a live server ran, and its build. An option that it does not report is absent. */
export type Interpreter = Static<typeof interpreter>;

const REPETITIONS = ['a/a', 'background'] as const;

export const repeats = named(
  'repeats',
  shape(
    {
      targetId: text('Id of the repeated target.'),
      kind: oneOf(
        REPETITIONS,
        'The only difference from that target: a/a is none, so that figures differ by noise alone (--noise); background is a request kept in flight beside the load (--background).',
      ),
    },
    { description: 'The target that this one repeats, and the difference between them.' },
  ),
);

export const scale = named(
  'scale',
  shape(
    {
      of: text('Id of the target with one worker of one thread on one core; its own id if it is that.'),
      workers: ordinal('count: workers of its server'),
      threads: Type.Optional(ordinal('count: threads of each worker; absent if the stack chooses')),
      cores: ordinal('count: cores that its server may use'),
    },
    { description: 'The resources of its server, instead of those of the plan (--scale).' },
  ),
);

/** The resources of one server in a run that scales them. */
export type Scale = Static<typeof scale>;

export const copy = named(
  'copy',
  shape(
    {
      kind: oneOf(
        ['revision', 'working-tree', 'folder', 'setting'] as const,
        'A commit; the files of the project with their uncommitted changes; another folder; the project with another command or other variables.',
      ),
      name: text('As typed: main, HEAD, ., ./a, WORKERS=4.'),
      commit: Type.Optional(
        text('Hash of the commit; for a working tree, of the commit that it is based on.'),
      ),
      subject: Type.Optional(text('First line of the message of that commit.')),
      command: Type.Optional(command('The command of a setting; that of the project by default.')),
      env: Type.Optional(mapOf(Type.String(), 'The variables of a setting.')),
    },
    { description: 'The version of the project that is measured; absent if it is measured as it is.' },
  ),
);

/** A version of a user's project: a commit, the working tree, another folder, or another setting. */
export type Copy = Static<typeof copy>;

export const target = named(
  'target',
  shape(
    {
      id: text(
        'As written in tables: without a default variant, and without a runtime that was not asked for.',
      ),
      stack: text(),
      variant: text(),
      class: oneOf(
        [...STACK_CLASSES, 'unknown'],
        "How much of the work is the framework's; unknown of a server that was already running.",
      ),
      language: Type.String(),
      framework: Type.String(),
      runtime: Type.Optional(runtimeSpec),
      packages: Type.Optional(texts('Package versions or checkouts on top of the lock (--with).')),
      copy: Type.Optional(copy),
      repeats: Type.Optional(repeats),
      scale: Type.Optional(scale),
    },
    { description: 'The measured target: stack[/variant][@runtime].' },
  ),
);

/** `stack[/variant][@runtime]`, resolved: one thing to be measured. */
export type Target = Static<typeof target>;
