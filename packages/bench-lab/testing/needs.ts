import { beforeAll, beforeEach, inject } from 'vitest';
import { HOME } from 'bench-machine/home';
import { ROOT } from 'bench-targets/catalogue/stacks';
import { BenchError } from 'bench-model/errors';
import type { Stack } from 'bench-model/stack';
import { findTool } from 'bench-targets/prepare/builds';
import { findEngines, type FoundEngine } from 'bench-load/engines';
import { findMysql } from 'bench-http/services/database/mysql';
import { findPostgres, type Postgres } from 'bench-http/services/database/postgres';
import type { FoundDatabase } from 'bench-http/services/database/server';
import { provideUv } from 'bench-targets/prepare/uv';
import { prepareAll, type Prepared } from 'bench-targets/prepare/prepare';
import type { Target } from 'bench-model/target';

declare module 'vitest' {
  interface ProvidedContext {
    /** Compiled stacks that a whole run does not build, and why. */
    unbuilt?: Record<string, string>;
  }
}

/** A cold build of a compiled stack on a busy machine. */
const FIND_MS = 900_000;

/** Something that the tests of a file or of a `describe` need. */
export interface Need<T> {
  /** The sentence that says what is missing; undefined when nothing is. Known from `beforeAll` on. */
  readonly why: string | undefined;
  /** Returns what was found. Throws where it is missing. */
  get(): T;
}

/**
 * Skips every test of this file or `describe`, by the name of what is missing, when `find` throws a toolchain error.
 * This is the one way to need anything beyond Node, Python and a C compiler. Under CI a skip is an error, unless
 * `skipped-under-ci.json` lists the test (see `skips.ts`).
 */
export function needs<T>(find: () => T | Promise<T>): Need<T> {
  let found: { value: T } | undefined;
  let why: string | undefined;
  beforeAll(async () => {
    try {
      found = { value: await find() };
    } catch (error) {
      if (!(error instanceof BenchError) || error.code !== 'toolchain') throw error;
      why = error.message;
    }
  }, FIND_MS);
  beforeEach(({ skip }) => skip(why !== undefined, why));
  return {
    get why() {
      return why;
    },
    get() {
      if (found === undefined) throw new Error(why ?? 'it is looked for in beforeAll');
      return found.value;
    },
  };
}

/** A program on PATH. */
export const tool = (name: string) => (): Promise<unknown> => findTool(name, ROOT, 'by this test');

/** uv, which makes the environments of Python servers: on PATH, in the cache, or from the registry of pip. */
export const uv = (): Promise<string> => provideUv(HOME.cache);

/** A load engine, with the environment of a Python client. */
export const engine = (name: string) => async (): Promise<FoundEngine> => {
  const [found] = await findEngines([name]);
  if (found === undefined) throw new Error(`no engine ${name}`);
  return found;
};

/** The PostgreSQL that npm installs. */
export const postgres = (): Promise<Postgres> => findPostgres();

/** MySQL or MariaDB, as installed. */
export const mysql = (): Promise<FoundDatabase> => findMysql();

/** A target, ready to be launched. A compiled stack that a whole run does not build counts as missing. */
export const target = (wanted: Target, stacks: Stack[]) => async (): Promise<Prepared> => {
  const unbuilt = inject('unbuilt')?.[wanted.stack];
  if (unbuilt !== undefined) throw new BenchError('toolchain', unbuilt);
  const { prepared, missing } = await prepareAll([wanted], stacks);
  const [ready] = prepared;
  if (ready === undefined)
    throw new BenchError('toolchain', missing[0]?.reason ?? `${wanted.id} is missing`, missing[0]?.hint);
  return ready;
};
