const BENCH = `pnpm bench [target...] [options]

Measures HTTP servers on this machine, one fresh server a trial, and prints a table.
A target is stack[/variant][@runtime], globs allowed: fastify  'fastapi/*'  fastapi@3.12
Without targets: vanilla fastify fastapi litestar uvicorn. pnpm stacks lists all there are.

What to measure
  --all                  every variant of every stack that offers the workload
  --stack FILE           a server of your own, by its stack.json
  --url URL              a server that is already running, with --method --header --body --expect --pid
                         (--body and --expect take text or @file)
  --workload NAME        devices fib gather users users-insert
                         --param NAME=N    of the workload: --workload fib --param n=24
                         users and users-insert ask PostgreSQL: of our own, unless DATABASE_URL names one
  --upstream KIND        what serves the fixtures of gather: nginx where it is on PATH, else embedded, unless told
How
  --connections LIST     e.g. 10,100,1000,10000     --rounds N        3
  --duration SECONDS     the window                 --warmup SECONDS
  --amount N             exactly N requests instead of a window
  --rate N               N starts a second whatever the server does (an open loop): latency from the intended start;
                         auto takes half of the slowest target's goodput
  --timeout SECONDS      of one request             --workers N       1
  --cores N              what a server may use: as many as workers, unless told
  --threads N            of each worker, for the stacks that let one choose (def routes, granian)
  --python LIST, --node LIST
                         the same targets on several runtimes: --python 3.12,3.14+jit  --node 22,26,bun
  --with PACKAGE         on top of the lock, for the targets of its language; twice for two targets:
                         fastapi==0.115 (Python), fastify@5.1.0 (npm), or the folder of a checkout
  --generators N         load processes, 1          --connect-rate N  connects per second, 2000
  --seed N               the order of the trials, and what they ask for
  --prove-limit          add a generator to see whether the first was the limit
  --quick                a first impression in under a minute
To compare
  --duel                 all targets of a round stand at once, and short windows take turns: the sharper instrument
  --separate             one server at a time
  --aa                   the first target once more, as a noise floor
  --until-decided        looks after 12, 18 and 24 rounds and stops when every comparison has its verdict
  --budget TIME          e.g. 10m: stops undecided   --looks NAME     6/12/18, 10/15/20, 12/18/24, 18/27/36
  --by METRIC            cpu; goodput p50 p99 memory startup   --threshold SHARE  2%: the difference that matters
  --again RUN            the plan of a stored run once more, today, and what has changed since
What to see
  --dry-run              the plan, and how long it takes; starts nothing
  --detail               every trial               --json            the whole run as JSON
  --resume RUN           go on with a run that was interrupted

Exit codes: 0 done, 1 a trial failed, 2 bad usage, 3 a toolchain asked for by name is missing, 130 interrupted.
`;

const BUILD = `pnpm build [STACK...]

Makes what every variant of the stacks needs, of all stacks unless told, as a run does on first use: environments,
and the binaries of compiled stacks. Exits 3 when one could not be made.
`;

const CALIBRATE = `pnpm calibrate

Measures servers that do exactly what they are told, and prints how far off this instrument is on this
machine: latency, CPU per request, memory. Takes some minutes; exits 1 when a bias is out of its tolerance.
`;

const CHECK = `pnpm check [--fix]

Format, lint and types of every language, side by side. --fix changes what can be changed.
`;

const CLEAN = `pnpm clean [environments] [builds] [tools] [runs] [NAME...] [--yes]

Lists what the project keeps on this machine, with sizes, and removes what is named: a kind, or one thing that is listed.
It asks first, unless told --yes. Published runs are kept.
`;

const POWER = `pnpm bench:power [--sittings N] [--noise N] [--target NAME] [--pool FOLDER]

How often is a comparison right? Adds sittings over twins of one server, of which one costs 6 %, 0 % or 3 % more CPU
a request, to a pool that is kept, each of at most 2 minutes, with one run of stock autocannon beside it; then prints
what the pool shows. 3 sittings unless told; --sittings 0 only prints.
--noise N adds N A/A rounds of a target (vanilla), as separate trials and as duels.
`;

const PREFLIGHT = `pnpm preflight [--connections N] [--workers N] [--cores N] [--generators N] [--connect-rate N]

Is this machine fit to measure on: limits, ports, load, governor, throttling; and what to change.
Looks for 10000 connections, one core a worker, one worker and one generator unless told. Exits 1 when something has to change.
`;

const RECHECK = `pnpm recheck FILE [--json]

Reads figures that were published elsewhere, tables of autocannon and reports of time(1), and says which of
them cannot be true together. - reads what is piped in. Nothing is measured.
`;

const REPORT = `pnpm report RUN [--ladder] [--detail] [--markdown] [--json]

Shows a stored run again, by its id or its folder. Nothing is measured.

  --ladder               by target: what more connections buy, and the knee from which on they buy nothing
  --detail               every column, and every trial
  --markdown, --json     for a page, or for a program
`;

const SELF = `pnpm bench:self [--rounds N]

Measures the instrument itself: what its load driver costs beside stock autocannon, what sampling costs,
and how much of the time is window.
`;

const SERVE = `pnpm serve TARGET [--port N] [--workers N] [--threads N] [--workload NAME] [--param NAME=N] [--upstream KIND] [--stack FILE]

Starts one server to poke at by hand, on port 8080 unless told, and the upstream or the database that it asks. Ctrl-C stops it.
`;

const STACKS = `pnpm stacks

Lists every target: what it offers, and whether it is ready, made on first use, or missing, and why.
Lists the runtimes: which are ready or missing, and which are unverified, because nobody has measured on them.
`;

const COMPARE = `pnpm compare <run> [<run>] [options]

Inside one run: its targets against a baseline, paired by round. Between two runs: the same targets then and now.

  --by METRIC           goodput p50 p99 cpu memory startup; cpu unless told
  --baseline TARGET     of one run; its first target unless told. @3.12 compares each stack with itself on that runtime,
                        which is usual where stacks run on several
  --threshold SHARE     the difference that matters, 2%
  --across FACTOR       the one factor in which two runs are meant to differ: workers (and with them threads: the
                        process model) threads cores engine background upstream database
  --force               compare runs that are unlike, and mark it
  --fail-on VERDICTS    exit 1 when one of these is found: slower faster same undecided
  --strict              exit 1 when anything is undecided
  --json

Exit codes: 0 compared, 1 --fail-on or --strict found what it was told to, 2 refused or bad usage.
`;

/** What `--help` prints, by script. */
export const USAGES: Record<string, string> = {
  bench: BENCH,
  build: BUILD,
  calibrate: CALIBRATE,
  check: CHECK,
  clean: CLEAN,
  compare: COMPARE,
  power: POWER,
  preflight: PREFLIGHT,
  recheck: RECHECK,
  report: REPORT,
  self: SELF,
  serve: SERVE,
  stacks: STACKS,
};
