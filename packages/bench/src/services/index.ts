/** The companions by their names in a record. A new one is a folder here, an entry in this list, and its part in `companions.ts` of bench-model. */
import { AsyncDisposableStack } from '@whatwg-node/disposablestack';
import type { CompanionName } from 'bench-model/companions';
import { background } from './background/companion.ts';
import type {
  Companion,
  CompanionKind,
  CompanionContext,
  CompanionNeeds,
  RunningCompanion,
} from './companion.ts';
import { database } from './database/companion.ts';
import { services } from './declared/companion.ts';
import { upstream } from './upstream/companion.ts';

/** All companions, in the order in which they begin. */
const COMPANIONS: Record<CompanionName, CompanionKind> = { upstream, database, services, background };

/** Finds the companions that are needed. Throws a usage or toolchain error if one is not available. */
export async function findCompanions(needs: CompanionNeeds): Promise<Companion[]> {
  const found: Companion[] = [];
  for (const kind of Object.values(COMPANIONS)) found.push(...[(await kind.find(needs)) ?? []].flat());
  return found;
}

/** Starts the companions of a run; disposing ends them all. If one does not start, those before it are stopped. */
export async function startCompanions(
  companions: readonly Companion[],
  context: CompanionContext,
): Promise<AsyncDisposable & { all: RunningCompanion[] }> {
  await using started = new AsyncDisposableStack();
  const all: RunningCompanion[] = [];
  for (const companion of companions) all.push(started.use(await companion.start(context)));
  const kept = started.move();
  return { all, [Symbol.asyncDispose]: () => kept.disposeAsync() };
}
