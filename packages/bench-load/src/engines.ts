import { getCompileCacheDir } from 'node:module';
import { availableParallelism } from 'node:os';
import { dirname } from 'node:path';
import { ENGINE_NAMES, type EngineName } from 'bench-model/engines';
import { UsageError } from 'bench-model/errors';
import { HOME, programBeside } from 'bench-machine/home';
import { findTool } from 'bench-targets/prepare/builds';
import type { PinnedCommands } from 'bench-machine/placement';
import { prepareProgram, pythonProgram } from 'bench-targets/prepare/program';
import { DRIVER_VERSION } from 'bench-model/versions';
import type { LoadEngine } from './engine.ts';
import { createFleetEngine } from './fleet.ts';
import { createToolEngine } from './tool-engine.ts';
import { k6 } from './tools/k6.ts';
import type { Tool } from './tools/tool.ts';
import { wrk } from './tools/wrk.ts';

/** The program of a generator process of the load driver. */
export const GENERATOR = programBeside(import.meta.url, 'generator');

/** The surroundings of an engine. */
interface EngineContext {
  placed: Pick<PinnedCommands, 'placement' | 'generator'>;
  token: string;
}

export interface FoundEngine {
  name: string;
  /** The version that a resumed run must find unchanged. */
  version: string;
  create(context: EngineContext): LoadEngine;
}

/** Finds the engines of these names and prepares what they need. Throws a toolchain error if one is missing. */
export async function findEngines(names: readonly string[]): Promise<FoundEngine[]> {
  return Promise.all([...new Set(names)].map(findEngine));
}

/** Finds each engine and prepares what it needs. */
const FINDERS: Record<EngineName, () => Promise<FoundEngine>> = {
  autocannon: findOwn,
  requests: () => findClient('requests'),
  threads: () => findClient('threads'),
  aiohttp: () => findClient('aiohttp'),
  wrk: () => findOther(wrk),
  k6: () => findOther(k6),
};

async function findEngine(name: string): Promise<FoundEngine> {
  if (!Object.hasOwn(FINDERS, name))
    throw new UsageError(`unknown engine "${name}"`, ENGINE_NAMES.join(', '));
  return FINDERS[name as EngineName]();
}

/** Finds the load driver of Bench, on autocannon. */
async function findOwn(): Promise<FoundEngine> {
  return {
    name: 'autocannon',
    version: DRIVER_VERSION,
    create: ({ placed }) =>
      createFleetEngine({
        name: 'autocannon',
        version: DRIVER_VERSION,
        argv: [...placed.generator, process.execPath, GENERATOR],
        env: shareCompileCache(),
        takesTurns: true,
      }),
  };
}

/** Shares the compile cache of this process with a generator, which takes half its time to start without one. */
function shareCompileCache(): Record<string, string> {
  // Each version of Node has its own folder in the cache.
  const folder = getCompileCacheDir();
  return folder === undefined ? {} : { NODE_COMPILE_CACHE: dirname(folder) };
}

async function findOther(tool: Tool): Promise<FoundEngine> {
  const found = await findTool(tool.name, HOME.root, 'to send the load');
  return {
    name: tool.name,
    version: found.name,
    create: ({ placed, token }) =>
      createToolEngine({
        tool,
        version: /\d.*/.exec(found.name.slice(tool.name.length))?.[0],
        prefix: placed.generator,
        cores: placed.placement.generator?.length ?? availableParallelism(),
        token,
      }),
  };
}

const CLIENTS = pythonProgram('clients', 'requests, aiohttp', {
  requests: ['-m', 'bench_clients', 'requests'],
  threads: ['-m', 'bench_clients', 'threads'],
  aiohttp: ['-m', 'bench_clients', 'aiohttp'],
});

/** A Python client, in an environment like that of a stack. */
async function findClient(name: string): Promise<FoundEngine> {
  const found = await prepareProgram(CLIENTS, {
    id: `engine ${name}`,
    variant: name,
    elsewhere: 'omit --engine, or choose wrk or k6',
  });
  const version = `Python ${found.runtime?.version}, sources ${found.digest}`;
  return {
    name,
    version,
    create: ({ placed }) =>
      createFleetEngine({
        name,
        version,
        argv: [...placed.generator, ...found.command],
        env: found.env,
      }),
  };
}
