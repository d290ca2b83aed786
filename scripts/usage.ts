/** What `pnpm bench --help` prints. */
export const BENCH_USAGE = `pnpm bench [target...] [options]

Measures HTTP servers on this machine, one fresh server a trial, and prints a table.
A target is stack[/variant][@runtime], globs allowed: fastify  'fastapi/*'  fastapi@3.12
Without targets: vanilla fastify fastapi litestar uvicorn. pnpm stacks lists all there are.

What to measure
  --all                  every stack that offers the workload
  --stack FILE           a server of your own, by its stack.json
  --url URL              a server that is already running, with --method --header --body --expect --pid
                         (--body and --expect take text or @file)
  --workload NAME        devices
How
  --connections LIST     e.g. 10,100,1000,10000     --rounds N        3
  --duration SECONDS     the window                 --warmup SECONDS
  --amount N             exactly N requests instead of a window
  --timeout SECONDS      of one request             --workers N       1
  --generators N         load processes, 1          --connect-rate N  connects per second, 2000
  --seed N               the order of the trials, and what they ask for
  --prove-limit          add a generator to see whether the first was the limit
  --quick                a first impression in under a minute
What to see
  --dry-run              the plan, and how long it takes; starts nothing
  --detail               every trial               --json            the whole run as JSON
  --resume RUN           go on with a run that was interrupted

Exit codes: 0 done, 1 a trial failed, 2 bad usage, 3 a toolchain asked for by name is missing, 130 interrupted.
`;
