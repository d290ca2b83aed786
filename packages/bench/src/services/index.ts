/**
 * The companions in the order in which they begin, by their names in a record. A new one is a folder here and an entry in
 * this list: the definition of a record is composed from it.
 */
import { AsyncDisposableStack } from '../disposal.ts';
import { background } from './background/companion.ts';
import type {
  Companion,
  CompanionKind,
  CompanionMeans,
  CompanionNeeds,
  RunningCompanion,
} from './companion.ts';
import { database } from './database/companion.ts';
import { services } from './declared/companion.ts';
import { upstream } from './upstream/companion.ts';

export const COMPANIONS = { upstream, database, services, background };

/** Finds the companions that are needed. Throws a usage or toolchain error if one is not available. */
export async function findCompanions(needs: CompanionNeeds): Promise<Companion[]> {
  const found: Companion[] = [];
  for (const kind of Object.values<CompanionKind>(COMPANIONS))
    found.push(...[(await kind.find(needs)) ?? []].flat());
  return found;
}

/** Companions for the length of a run. Disposing ends them all. */
export interface RunningCompanions extends AsyncDisposable {
  all: RunningCompanion[];
}

/** Starts the companions of a run. If one does not start, those before it are stopped. */
export async function startCompanions(
  companions: readonly Companion[],
  means: CompanionMeans,
): Promise<RunningCompanions> {
  await using started = new AsyncDisposableStack();
  const all: RunningCompanion[] = [];
  for (const companion of companions) all.push(started.use(await companion.start(means)));
  const kept = started.move();
  return { all, [Symbol.asyncDispose]: () => kept.disposeAsync() };
}
