import { pythonProgram } from '../python-program.ts';

/** The Python program that speaks to Ray. */
export const CLUSTER = pythonProgram('cluster', 'ray', { ray: ['-m', 'bench_cluster'] });
