/** The programs that can be the upstream of a workload: nginx, or the server that comes with Bench. */
export const UPSTREAMS = ['nginx', 'embedded'] as const;
