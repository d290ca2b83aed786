import type { WorkloadRequest } from 'bench-targets/catalogue/workloads/workload';

/** Asks for all rows of the table `users`. */
export const LIST: WorkloadRequest = { method: 'GET', path: '/users', headers: {} };

/** Adds a row. */
export const ADD: WorkloadRequest = {
  method: 'POST',
  path: '/users',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ name: 'Ada', email: 'ada@example.org' }),
};
