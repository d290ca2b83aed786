/** The Python program that speaks to Ray. Its environment is built like that of a stack. */
import { join } from 'node:path';
import type { Stack } from '../stack.ts';
import { ROOT } from '../stacks.ts';

export const CLUSTER: Stack = {
  name: 'cluster',
  language: 'python',
  framework: 'ray',
  runtime: 'python',
  build: [],
  shares: [],
  runtimes: [],
  default: 'ray',
  variants: {
    ray: {
      command: ['{runtime}', '-m', 'bench_cluster'],
      groups: [],
      build: [],
      env: {},
      workloads: [],
      class: 'framework',
      attest: {},
      deviates: [],
    },
  },
  root: join(ROOT, 'python', 'cluster'),
  manifest: 'python/cluster',
};
