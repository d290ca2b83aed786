/** The companions by their names in a record. A new one is a folder here, an entry in this list, and its part in `companions.ts` of bench-model. */
import { AsyncDisposableStack } from '@whatwg-node/disposablestack';
import type { CompanionName } from 'bench-model/companions';
import { background } from './background/companion.ts';
import type {
  Companion,
  CompanionKind,
  CompanionContext,
  CompanionNeeds,
  MovableKind,
  MovableName,
  RunningCompanion,
} from './companion.ts';
import { database } from './database/companion.ts';
import { services } from './declared/companion.ts';
import { findElsewhere, type CompanionHosts } from './movable.ts';
import { upstream } from './upstream/companion.ts';

/** The companions whose program can run on another host. */
export const MOVABLE: Record<MovableName, MovableKind> = { upstream, database };

/** All companions, in the order in which they begin. */
const COMPANIONS: Record<CompanionName, CompanionKind> = { ...MOVABLE, services, background };

export const MOVABLE_NAMES = Object.keys(MOVABLE) as MovableName[];

/**
 * Finds the companions that are needed, without those that run on other hosts. Throws a usage or toolchain error if one is
 * not available.
 */
export async function findCompanions(needs: CompanionNeeds): Promise<Companion[]> {
  const found: Companion[] = [];
  const elsewhere = new Set<string>(listElsewhere(needs));
  for (const kind of Object.values(COMPANIONS))
    if (!elsewhere.has(kind.name)) found.push(...[(await kind.find(needs)) ?? []].flat());
  return found;
}

/** Lists the companions that are needed and run on another host. */
export function listElsewhere(needs: CompanionNeeds): MovableName[] {
  return MOVABLE_NAMES.filter(
    (name) => needs.cluster?.roles[name] !== undefined && MOVABLE[name].movable.isNeeded(needs),
  );
}

/** Finds the companions that run on other hosts. Throws a usage or trial error if one is not available. */
export async function findDistant(needs: CompanionNeeds, hosts: CompanionHosts): Promise<Companion[]> {
  const found: Companion[] = [];
  for (const name of listElsewhere(needs)) found.push(await findElsewhere(MOVABLE[name], needs, hosts));
  return found;
}

/** Companions for the length of a run. Disposing ends them all. */
interface RunningCompanions extends AsyncDisposable {
  all: RunningCompanion[];
}

/** Starts the companions of a run. If one does not start, those before it are stopped. */
export async function startCompanions(
  companions: readonly Companion[],
  context: CompanionContext,
): Promise<RunningCompanions> {
  await using started = new AsyncDisposableStack();
  const all: RunningCompanion[] = [];
  for (const companion of companions) all.push(started.use(await companion.start(context)));
  const kept = started.move();
  return { all, [Symbol.asyncDispose]: () => kept.disposeAsync() };
}
