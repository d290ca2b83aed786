/** The services and the setup command that the manifest of an app declares. */
import { serversAtOnce } from 'bench-model/planned';
import { resolve } from 'node:path';
import { findProgram, isProgram } from 'bench-machine/path';
import type { DatabaseName, Service } from 'bench-model/manifest';
import { present } from 'bench-model/options';
import type { Surroundings, Stack } from 'bench-model/stack';
import type { Addresses } from 'bench-targets/catalogue/services';
import { AsyncDisposableStack } from '@whatwg-node/disposablestack';
import { ToolchainError, UsageError } from 'bench-model/errors';
import type { Target } from 'bench-model/target';
import { digestOf } from 'bench-targets/prepare/digest';
import { countsOf } from '../database/companion.ts';
import { findDatabase } from '../database/database.ts';
import { findMysql } from '../database/mysql.ts';
import type { DatabaseServer, FoundDatabase, OpenDatabase } from '../database/server.ts';
import {
  CompanionError,
  processOf,
  type Companion,
  type CompanionKind,
  type CompanionContext,
  type CompanionProcess,
  type CompanionTrial,
  type RunningCompanion,
  type TrialCompanion,
} from '../companion.ts';
import { fillAll, refuseTakenPort, runSetup, startService, type ProgramContext } from './program.ts';
import type { DeclaredServices, ServicesUse } from 'bench-model/companions';

/** A stack with services or a setup command. */
interface Declared extends Surroundings {
  stack: Stack;
}

export const services: CompanionKind = {
  name: 'services',
  async find({ targets, known, byTurns }): Promise<Companion | undefined> {
    const found = known.filter((stack) => targets.some((target) => isOf(stack, target)));
    return findDeclared(found, serversAtOnce({ byTurns, targets }) > 1);
  },
};

/** Returns true for the stack of a target: each copy of a project has its own manifest. */
function isOf({ name, copy }: Stack, target: Target): boolean {
  return name === target.stack && copy === target.copy?.name;
}

/** Finds the services and setup commands of these stacks; undefined if there are none. Throws if one cannot run on this machine. */
export async function findDeclared(
  stacks: readonly Stack[],
  takesTurns = false,
): Promise<Companion | undefined> {
  const all = stacks.flatMap((stack): Declared[] =>
    stack.surroundings === undefined ? [] : [{ ...stack.surroundings, stack }],
  );
  if (all.length === 0) return undefined;
  for (const one of all) await refuseImpossible(one, takesTurns);
  const databases: Databases = {};
  for (const service of all.flatMap((one) => Object.values(one.services)))
    if ('use' in service) databases[service.use] ??= await DATABASES[service.use]();
  const text = JSON.stringify(all.map(({ services: found, setup }) => [found, setup]));
  const engines = Object.values(databases).map((one) => `, ${describeDatabase(one)}`);
  return {
    name: 'services',
    version: `manifest ${digestOf([], text)}${engines.join('')}`,
    isPlaced: all.some(({ services: found }) => Object.keys(found).length > 0),
    start: (context) => startDeclared(all, databases, context),
  };
}

/** Finds the server of each database that a manifest can use. */
const DATABASES: Record<DatabaseName, () => Promise<FoundDatabase>> = {
  postgres: () => findDatabase(),
  mysql: () => findMysql(),
};

/** The servers of the databases that manifests use. */
type Databases = Partial<Record<DatabaseName, FoundDatabase>>;

function describeDatabase({ kind, version }: FoundDatabase): string {
  return `${kind} ${version}`;
}

/** The ways to get the programs of services that Bench writes itself. */
const INSTALLS: Record<string, string> = {
  'redis-server': 'install it: apt-get install redis-server; brew install redis',
};

/** Throws a toolchain error if a service is not installed. */
export async function refuseMissing(name: string, service: Service, root: string): Promise<void> {
  if ('use' in service) {
    await DATABASES[service.use]();
    return;
  }
  const [program = ''] = service.command;
  const isPath = program.includes('/');
  if (isPath ? isProgram(resolve(root, program.replaceAll('{root}', root))) : findProgram(program)) return;
  throw new ToolchainError(
    `service ${name}: ${program} is ${isPath ? `not a program in ${root}` : 'not on PATH'}`,
    INSTALLS[program] ?? 'install it, or correct "services" in the manifest',
  );
}

/** Throws for a service whose program is missing or whose port is taken, before anything starts. */
async function refuseImpossible({ stack, services: found }: Declared, takesTurns: boolean): Promise<void> {
  for (const [name, service] of Object.entries(found)) {
    if ('use' in service) continue;
    await refuseMissing(name, service, stack.root);
    if (takesTurns && service.port !== undefined && service.per !== 'run') {
      throw new UsageError(
        `service ${name} has the fixed port ${service.port}, and servers that run at once need one service each`,
        'use {port} instead of a fixed port, add "per": "run", or measure with --no-interleave',
      );
    }
    await refuseTakenPort(name, service);
  }
}

interface Started {
  name: string;
  address: Addresses[string];
  /** Undefined if it is unknown. */
  process: CompanionProcess | undefined;
  database?: OpenDatabase;
}

function addressesOf(all: readonly Started[]): Addresses {
  return Object.fromEntries(all.map(({ name, address }) => [name, address]));
}

/** What starts the services of a stack. */
interface Starter {
  /** Collects what is to be stopped. */
  started: AsyncDisposableStack;
  servers: Partial<Record<DatabaseName, DatabaseServer>>;
  contextFor: (id: string) => ProgramContext;
}

/** Starts services in their order, and returns them after those that run already. Throws a companion error if one fails. `id` begins the names of their logs. */
async function startAll(
  wanted: readonly [name: string, Service][],
  running: readonly Started[],
  id: string,
  { started, servers, contextFor }: Starter,
): Promise<Started[]> {
  const all = [...running];
  for (const [index, [name, service]] of wanted.entries()) {
    if ('use' in service) {
      const server = servers[service.use] as DatabaseServer;
      const database = started.use(await server.openEmpty());
      all.push({ name, address: database.address, process: server.process(), database });
    } else {
      const context = contextFor(`${id}s${index}-${name}`);
      const { server, address } = await startService(name, service, addressesOf(all), context);
      started.use(server);
      all.push({ name, address, process: processOf(server) });
    }
  }
  return all;
}

/** Starts the services that live as long as the run. Throws a trial error with the last lines of a service that does not start. */
async function startDeclared(
  all: Declared[],
  databases: Databases,
  context: CompanionContext,
): Promise<RunningCompanion> {
  const { token, folder, placed } = context;
  await using started = new AsyncDisposableStack();
  let isStopped = false;
  const servers: Starter['servers'] = {};
  for (const [name, found] of Object.entries(databases) as [DatabaseName, FoundDatabase][])
    servers[name] = started.use(await found.start(context));
  const starterFor = ({ stack }: Declared): Omit<Starter, 'started'> => ({
    servers,
    contextFor: (id) => ({
      id,
      token,
      folder,
      root: stack.root,
      prefix: placed.beside ?? [],
      isStopped: () => isStopped,
    }),
  });
  const shared = new Map<string, Started[]>();
  for (const [index, one] of all.entries()) {
    if (shared.has(nameShared(one))) continue;
    const ofRun = Object.entries(one.services).filter(([, service]) => isOfRun(service));
    const given = startAll(ofRun, [], `run${index}`, { ...starterFor(one), started });
    // A service that does not start ends the run: the message then holds everything.
    const explained = given.catch((error: unknown) => {
      throw error instanceof CompanionError ? error.explained('correct "services" in the manifest') : error;
    });
    shared.set(nameShared(one), await explained);
  }
  const kept = started.move();
  return {
    name: 'services',
    head(target) {
      const one = all.find(({ stack }) => isOf(stack, target));
      return one === undefined ? undefined : describeDeclared(one, databases);
    },
    async begin(_draw, trial) {
      const one = all.find(({ stack }) => isOf(stack, trial.target));
      const given = one && shared.get(nameShared(one));
      if (one === undefined || given === undefined) throw new Error(`${trial.target.id} has no services`);
      return beginTrial(one, trial, given, starterFor(one));
    },
    interrupt() {
      isStopped = true;
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

/** Returns true for a service that lives as long as the run. */
function isOfRun(service: Service): boolean {
  return !('use' in service) && service.per === 'run';
}

/** Copies of a stack that declare the same services share those that live as long as the run. */
function nameShared({ stack, services: found }: Declared): string {
  return `${stack.name} ${JSON.stringify(found)}`;
}

function describeDeclared({ services: found, setup }: Declared, databases: Databases): DeclaredServices {
  return {
    services: Object.entries(found).map(([name, service]) =>
      'use' in service
        ? {
            name,
            kind: service.use,
            per: 'trial' as const,
            version: describeDatabase(databases[service.use] as FoundDatabase),
          }
        : { name, kind: 'program' as const, per: service.per ?? 'trial', command: service.command },
    ),
    ...present({ setup: setup?.command }),
  };
}

/**
 * Starts the services of one trial beside the given ones, and runs the setup command. Throws a companion error if one of them
 * fails; what has started is then stopped.
 */
async function beginTrial(
  { services: declared, setup, stack }: Declared,
  { id, target, prepared }: CompanionTrial,
  given: readonly Started[],
  starter: Omit<Starter, 'started'>,
): Promise<TrialCompanion> {
  await using started = new AsyncDisposableStack();
  const startedAt = performance.now();
  const number = id.split('-', 1)[0] ?? id;
  const ofTrial = Object.entries(declared).filter(([, service]) => !isOfRun(service));
  const all = await startAll(ofTrial, given, number, { ...starter, started });
  const addresses = addressesOf(all);
  const startSeconds = (performance.now() - startedAt) / 1000;
  const env = fillAll(stack.variants[target.variant]?.env ?? {}, addresses);
  if (setup !== undefined) {
    const command = prepared?.setup ?? setup.command;
    const own = { ...prepared?.env, ...env, ...fillAll(setup.env ?? {}, addresses) };
    // The server starts in the same folder, which may be a copy.
    const root = prepared?.stack.root ?? stack.root;
    const context = { ...starter.contextFor(`${number}setup-${stack.name}`), root, prefix: [] };
    await runSetup(setup, { command, env: own }, context);
  }
  const [only, ...others] = all.flatMap(({ process }) => process ?? []);
  const kept = started.move();
  return {
    env,
    process: () => (others.length === 0 ? only : undefined),
    ...countsOf(all.flatMap(({ database }) => database ?? [])),
    limit: 'services',
    record: (resources): ServicesUse => ({ startSeconds, ...present({ resources }) }),
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}
