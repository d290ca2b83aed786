import { BenchError } from '../../errors.ts';
import { devices } from './devices.ts';
import type { Workload } from './workload.ts';

const WORKLOADS: Record<string, Workload> = { devices };

/** The workload of that name. Throws a usage error that lists the names there are. */
export function findWorkload(name: string): Workload {
  const found = Object.hasOwn(WORKLOADS, name) ? WORKLOADS[name] : undefined;
  if (found === undefined) {
    throw new BenchError(
      'usage',
      `there is no workload "${name}"`,
      `there are: ${Object.keys(WORKLOADS).join(', ')}`,
    );
  }
  return found;
}
