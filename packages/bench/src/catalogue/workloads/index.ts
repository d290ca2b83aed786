import { BenchError } from '../../errors.ts';
import { devices } from './devices.ts';
import { asyncfib, fib } from './fib.ts';
import { gather } from './gather.ts';
import { repository } from './repository.ts';
import { urlWorkload, type UrlRequest } from './url.ts';
import { users, usersInsert } from './users.ts';
import { asyncwait, wait } from './wait.ts';
import type { Params, Workload } from './workload.ts';

const WORKLOADS: Record<string, Workload> = {
  devices,
  fib,
  asyncfib,
  gather,
  wait,
  asyncwait,
  repository,
  users,
  'users-insert': usersInsert,
};

/** The names of all workloads. */
export const WORKLOAD_NAMES = Object.keys(WORKLOADS);

/** The workload of that name. Throws a usage error that lists the names there are. */
export function findWorkload(name: string): Workload {
  const found = Object.hasOwn(WORKLOADS, name) ? WORKLOADS[name] : undefined;
  if (found === undefined) {
    throw new BenchError('usage', `unknown workload "${name}", expected one of ${WORKLOAD_NAMES.join(', ')}`);
  }
  return found;
}

/** The workload of a plan. Throws a usage error for an unknown name, and for a request whose files cannot be read. */
export function workloadOf({ workload, url }: { workload: string; url?: UrlRequest | undefined }): Workload {
  return url === undefined ? findWorkload(workload) : urlWorkload(url);
}

/**
 * All parameters of a workload: those asked for, the others as usual. Throws a usage error for one that it does not
 * have, or that is out of its range.
 */
export function completeParams({ name, params = {} }: Workload, asked: Params): Params {
  for (const [param, value] of Object.entries(asked)) {
    const range = Object.hasOwn(params, param) ? params[param] : undefined;
    if (range === undefined) {
      const names = Object.keys(params);
      const expected = names.length === 0 ? 'it has none' : `expected one of ${names.join(', ')}`;
      throw new BenchError('usage', `unknown parameter "${param}" of ${name}, ${expected}`);
    }
    if (value < range.least || value > range.most) {
      throw new BenchError(
        'usage',
        `--param ${param}=${value}: expected a number from ${range.least} to ${range.most}`,
      );
    }
  }
  const usual = Object.entries(params).map(([param, range]) => [param, range.usual]);
  return { ...(Object.fromEntries(usual) as Params), ...asked };
}
