import { UsageError } from 'bench-model/errors';
import { devices } from './devices.ts';
import { asyncfib, fib } from './fib.ts';
import { gather } from './gather.ts';
import { repository } from './repository.ts';
import type { UserRequests } from 'bench-model/requests';
import { requestsWorkload } from './requests/workload.ts';
import { users, usersInsert } from './users.ts';
import { asyncwait, wait } from './wait.ts';
import type { Params, Workload } from './workload.ts';

const WORKLOADS = [devices, fib, asyncfib, gather, wait, asyncwait, repository, users, usersInsert];

/** The names of all workloads of Bench. The requests of a user are another one. */
export const WORKLOAD_NAMES = WORKLOADS.map(({ name }) => name);

/** Returns the workload of this name. Throws a usage error that lists the names if it is unknown. */
export function findWorkload(name: string): Workload {
  const found = WORKLOADS.find((one) => one.name === name);
  if (found !== undefined) return found;
  throw new UsageError(`unknown workload "${name}", expected one of ${WORKLOAD_NAMES.join(', ')}`);
}

/** The part of a plan that says what is requested. */
interface PlannedRequests {
  workload: string;
  userRequests?: UserRequests | undefined;
  params?: Params | undefined;
}

/** Returns the workload of a plan. Throws a usage error if it is unknown, or its files cannot be read. */
export function workloadOf({ workload, userRequests }: PlannedRequests): Workload {
  return userRequests === undefined ? findWorkload(workload) : requestsWorkload(userRequests);
}

/**
 * Returns all parameters of a workload: the given ones, and the defaults of the others. Throws a usage error for an
 * unknown parameter, and for a value out of range.
 */
export function completeParams({ name, params = {} }: Workload, given: Params): Params {
  for (const [param, value] of Object.entries(given)) {
    const range = Object.hasOwn(params, param) ? params[param] : undefined;
    if (range === undefined) {
      const names = Object.keys(params);
      const expected = names.length === 0 ? 'it takes no parameters' : `expected one of ${names.join(', ')}`;
      throw new UsageError(`unknown parameter "${param}" of ${name}, ${expected}`);
    }
    const { least, most } = range;
    if (value < least || value > most)
      throw new UsageError(`--param ${param}=${value}: expected a number from ${least} to ${most}`);
  }
  const usual = Object.entries(params).map(([param, range]) => [param, range.usual]);
  return { ...(Object.fromEntries(usual) as Params), ...given };
}

/** Returns true if the servers of a plan use a database. */
export function asksDatabase(plan: PlannedRequests): boolean {
  return workloadOf(plan).stores === true;
}

/** Returns the texts that the upstream of a plan must serve; undefined if it has no upstream. */
export function fixturesOf(plan: PlannedRequests): string[] | undefined {
  return workloadOf(plan).fixtures?.(plan.params ?? {});
}
