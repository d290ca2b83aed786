/** `pnpm bench`: its options, and their translation into the options of a plan. */
import { LONGEST_WARMUP_SECONDS, usualMetric } from 'bench-model/planned';
import { PROMISED, readPromises } from 'bench-model/promise';
import type { CurveLoad, LoadMode } from 'bench-model/settings';
import { METRIC_IDS } from 'bench-model/metrics';
import { BenchError } from 'bench-model/errors';
import { ENGINE_NAMES } from 'bench-model/engines';
import {
  type AppOptions,
  benchOptions,
  present,
  thresholdFor,
  VERDICTS,
  type BenchOptions,
} from 'bench-model/options';
import { existsSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { readCluster } from 'bench-targets/catalogue/cluster';
import { PACKAGES, splitVersions } from 'bench-targets/catalogue/packages';
import { WORKLOAD_NAMES } from 'bench-targets/catalogue/workloads/index';
import { MOST_ROUNDS } from 'bench-model/limits';
import { HOME, commandLine } from 'bench-machine/home';
import { readRequests } from 'bench-targets/catalogue/workloads/requests/file';
import { redactUrl, redactWords } from 'bench-machine/redact';
import type { BenchRequest } from '../plan/request.ts';
import { toSecrets } from '../plan/secrets.ts';
import { defineCommand, flag, option, repeated, WAITS, type Values } from '../cli/command.ts';
import { print } from '../terminal/shell.ts';
import {
  PATHS,
  curveLoad,
  header,
  listOf,
  namedAddress,
  oneOf,
  pair,
  path,
  request,
  share,
  span,
  text,
  wholeNumber,
  wordOr,
} from '../cli/values.ts';

const WHAT = 'What to measure';
const OWN = 'Your own service';
const ON = 'On which runtimes and versions';
const LOAD = 'Load';
const SERVER = 'Servers';
const ASK = 'Your own requests';
const URL_GROUP = 'Servers that are already running';
const COMPARE = 'Comparing';
const OUTPUT = 'Output and stored runs';

/** The options of a run until decided imply it. */
const OF_A_TEST = {
  rounds: 'omit --rounds: a run until decided chooses its own',
  quick: 'omit --quick to get a verdict',
};

const NO_TARGETS = 'omit the targets, or --url';
const NO_TARGETS_APP = 'omit the targets, or --app';
/** Options that define the requests. */
const ASKS = ['get', 'request', 'requests-file', 'openapi', 'url'];
/** Options that choose, prepare or start a server, or choose the workload of its stack. */
const LAUNCHES = [
  'rev',
  'copy',
  'workload',
  'param',
  'python',
  'node',
  'with',
  'workers',
  'threads',
  'scale',
];
const ALREADY_RUNNING =
  'the server of --url is already running: omit the other option, or launch the server with --stack <file>';

const OPTIONS = {
  all: flag({
    group: WHAT,
    help: 'every variant of every stack that offers the workload',
    conflicts: { arguments: 'omit the target: --all includes it' },
  }),
  stack: repeated('<file>', text, { group: WHAT, help: 'a stack.json from outside the repository' }),
  app: option('<folder>', text, {
    group: OWN,
    help: 'the folder of your project; Bench builds an environment from the lock file, and never changes your files',
    needs: 'run',
    conflicts: {
      copy: 'name the folders with --copy alone',
      arguments: NO_TARGETS_APP,
      all: NO_TARGETS_APP,
      stack: 'measure them in two runs',
    },
  }),
  run: option('<command>', text, {
    group: OWN,
    help: "the command that starts its server; Bench replaces {port}, as in 'uvicorn app:app --port {port}', and sets PORT and HOST",
    needs: ['app', 'copy'],
  }),
  rev: repeated('<revision>', text, {
    group: OWN,
    help: 'a commit or a branch of the project, in its own environment; . is the working tree; give two to compare them',
    conflicts: { copy: 'measure them in two runs' },
  }),
  copy: repeated('<folder>', text, {
    group: OWN,
    help: 'a copy of the project, instead of --app; give two to compare them',
    conflicts: { all: NO_TARGETS_APP },
  }),
  workload: option('<name>', oneOf(WORKLOAD_NAMES), {
    group: WHAT,
    conflicts: Object.fromEntries(
      ['get', 'request', 'requests-file', 'openapi'].map((name) => [
        name,
        'a run has one source of requests: omit one of them',
      ]),
    ),
    help: `${WORKLOAD_NAMES.join(', ')}. users and users-insert use PostgreSQL: an embedded one, or DATABASE_URL`,
    default: 'devices',
  }),
  param: repeated('<name=n>', pair, {
    group: WHAT,
    help: 'a parameter of the workload, e.g. --workload fib --param n=24',
  }),
  quick: flag({
    group: WHAT,
    help: 'a first impression in under a minute; too short for a comparison',
    conflicts: { 'until-decided': 'omit --quick to get a verdict', noise: 'omit --quick to compare' },
    notInFile: true,
  }),

  python: option('<list>', listOf(text), {
    group: ON,
    help: 'the same targets on several Pythons, e.g. 3.12,3.14+jit,mine=/a/path/python',
  }),
  node: option('<list>', listOf(text), {
    group: ON,
    help: 'the same targets on several JavaScript runtimes, e.g. 22,26,bun',
  }),
  with: repeated('<package>', text, {
    group: ON,
    help: 'a package to use instead of the locked one: fastapi==0.115 (Python), fastify@5.1.0 (npm), or the folder of a checkout; name several to compare them; for upgrade also a name alone, for the newest release that the project admits',
    separator: PACKAGES,
  }),

  connections: option('<list>', listOf(wholeNumber()), {
    group: LOAD,
    help: 'the numbers of connections, each measured separately, e.g. 10,100,1000',
    usually: 'set by the workload',
  }),
  rounds: option('<n>', wholeNumber(1, MOST_ROUNDS), {
    group: LOAD,
    help: 'how often each target is measured',
    usually: '3',
  }),
  duration: option('<time>', span(), {
    group: LOAD,
    help: 'the length of the measured window',
    usually: 'set by the workload',
  }),
  warmup: option('<time>', wordOr('auto', span(0)), {
    group: LOAD,
    help: `load before the measured window. auto: until the server is warm, at most ${LONGEST_WARMUP_SECONDS} s`,
    usually: 'auto',
  }),
  timeout: option('<time>', span(), {
    group: LOAD,
    help: 'the timeout of one request',
    usually: 'set by the workload',
  }),
  amount: option('<n>', wholeNumber(), {
    group: LOAD,
    help: 'send exactly n requests, however long that takes, instead of measuring a window',
    conflicts: {
      duration: 'omit --duration: the run ends when all requests are answered',
      rate: 'omit --amount: an open loop runs for --duration',
    },
  }),
  rate: option('<loads>', wordOr('auto', listOf(curveLoad)), {
    group: LOAD,
    help: 'an open loop: n requests start per second, and latency counts from the intended start. auto: measure all targets first, and use half of the slowest goodput. Several, such as 500,1000,2000, show latency and CPU over load; with --slo, also shares of the capacity, such as 25%,50%,75%,90%',
    usually: 'a closed loop',
    notInFile: true,
  }),
  slo: option('<promises>', readPromises, {
    group: LOAD,
    help: `find the capacity: the highest rate of independent requests that keeps these promises, such as 'p99<50ms' or 'p99.9<200ms,errors<0.1%'. A promise limits ${PROMISED.slice(0, -1).join(', ')} or ${PROMISED.at(-1)}. --duration is the length of a search`,
    usually: 'a closed loop',
    conflicts: {
      amount: 'omit --amount: a search runs for --duration',
      scale: 'measure the sizes in several runs with --workers',
      quick: 'omit --quick: a search takes longer',
      background: 'omit one of them',
    },
  }),
  background: option('<request>', request, {
    group: LOAD,
    help: 'measure every target twice: with this request in flight, and without; e.g. "GET /fib/42"',
  }),
  cluster: option('<file>', text, {
    group: LOAD,
    help: 'send the load from the hosts that this file names, or spread the rounds over them; e.g. bench.cluster.json',
    conflicts: {
      scale: 'omit --cluster: --scale plans for the cores of this machine',
    },
  }),
  'new-connections': flag({
    group: LOAD,
    help: 'open a new connection for each request, and report how long that takes',
  }),
  engine: option('<name>', oneOf(ENGINE_NAMES), {
    group: LOAD,
    help: `the program that sends the load: ${ENGINE_NAMES.join(', ')}`,
    usually: 'autocannon',
  }),
  workers: option('<n>', wholeNumber(), { group: SERVER, help: 'workers of each server', default: 1 }),
  threads: option('<n>', wholeNumber(), {
    group: SERVER,
    help: 'threads of each worker, for stacks that let you choose',
    usually: 'set by the stack',
  }),
  cores: option('<n>', wholeNumber(), {
    group: SERVER,
    help: 'cores that a server can use',
    usually: 'as many as workers',
  }),
  scale: option('<list>', listOf(wholeNumber()), {
    group: SERVER,
    help: 'measure every target on each of these numbers of cores, e.g. 1,2,4, and compare with 1 core: with one worker per core, and also with one thread per core if its stack lets you choose threads',
    conflicts: {
      ...Object.fromEntries(
        ['workers', 'threads', 'cores'].map((name) => [
          name,
          '--scale sets all three: omit the other option',
        ]),
      ),
      rate: 'omit --rate: it limits the goodput, so there would be no speed-up to measure',
      noise: 'measure the noise in a run without --scale',
      background: 'measure it without --scale',
    },
  }),

  get: repeated('<path>', path, {
    group: ASK,
    separator: PATHS,
    help: "send GET requests to this path instead of a workload, e.g. '/orders?limit=20'",
  }),
  request: repeated('<request>', request, {
    group: ASK,
    separator: /,(?=\s*[A-Za-z]+\s+\/)/,
    help: "send this request, e.g. 'POST /orders'",
  }),
  'requests-file': option('<file>', text, {
    group: ASK,
    help: 'send the requests of this JSON file, which can have weights, expected answers and a login',
  }),
  openapi: option('<document>', text, {
    group: ASK,
    help: 'send the GET requests of an OpenAPI document: a file, an address, or a path of the server such as /openapi.json',
    conflicts: { 'requests-file': 'omit one of them' },
  }),
  header: repeated('<name: value>', header, {
    group: ASK,
    // A value can hold commas.
    separator: null,
    help: 'a header of every request',
    needs: [...ASKS, 'resume', 'again'],
    // Like --url, it supplies the secrets that a stored plan does not keep.
    besideAlone: true,
  }),
  body: option('<text>', (typed) => typed, {
    group: ASK,
    help: 'the body to send: text or @file',
    needs: ['request', 'url'],
  }),

  url: repeated('[name=]<address>', namedAddress, {
    group: URL_GROUP,
    separator: /,(?=(?:[\w.-]+=)?https?:)/,
    help: 'load this http:// or https:// address instead of a target; give two, as in old=http://… new=http://…, to compare them',
    besideAlone: true,
    conflicts: {
      arguments: NO_TARGETS,
      all: NO_TARGETS,
      stack: NO_TARGETS,
      ...Object.fromEntries(LAUNCHES.map((name) => [name, ALREADY_RUNNING])),
    },
  }),

  'no-interleave': flag({
    group: COMPARE,
    help: 'run one server at a time, even where several at once, loaded in short turns, show smaller differences',
  }),
  noise: flag({
    group: COMPARE,
    help: 'A/A: measure the first target twice, to show the noise of this machine',
  }),
  'until-decided': flag({
    group: COMPARE,
    help: 'look at the results after some rounds, and stop when every comparison has a verdict',
    usually: 'for two targets, without --rounds',
    conflicts: {
      rounds: 'omit --rounds: a run until decided chooses its own',
    },
  }),
  budget: option('<time>', span(), {
    group: COMPARE,
    help: 'stop after this time, even if undecided, e.g. 10m',
    conflicts: OF_A_TEST,
  }),
  by: option('<metric>', oneOf(METRIC_IDS), {
    group: COMPARE,
    help: `the metric that decides: ${METRIC_IDS.join(', ')}`,
    usually: 'cpu; capacity with --slo',
    conflicts: OF_A_TEST,
  }),
  threshold: option('<share>', share, {
    group: COMPARE,
    help: 'the smallest difference that matters',
    usually: '2%; 5% of a capacity',
    conflicts: OF_A_TEST,
  }),

  'fail-on': option('<verdicts>', listOf(oneOf(VERDICTS)), {
    group: COMPARE,
    help: `exit with 1 if the comparison finds one of these: ${VERDICTS.join(', ')}. faster and slower count if the whole interval lies beyond the threshold`,
    conflicts: { quick: 'omit --quick: it is too short for a comparison' },
    besideAlone: true,
    notInFile: true,
  }),

  why: flag({
    group: COMPARE,
    help: 'after the verdicts, start the servers of each difference again under a profiler (about 2 min), and name the functions that cost more or less',
    conflicts: {
      quick: 'omit --quick: it is too short for a comparison',
      url: 'let Bench start the servers: use --app or --stack instead of --url',
    },
    besideAlone: true,
    notInFile: true,
  }),

  'dry-run': flag({
    group: OUTPUT,
    help: 'print the plan and how long it takes, but start nothing',
    conflicts: {
      json: 'omit --json: a plan is printed as text only',
      detail: 'omit --detail: a dry run measures nothing',
    },
    besideAlone: true,
    notInFile: true,
  }),
  detail: flag({
    group: OUTPUT,
    help: 'print every column and every trial',
    besideAlone: true,
    notInFile: true,
  }),
  json: flag({
    group: OUTPUT,
    help: 'print the whole run as JSON',
    conflicts: { detail: 'omit --detail: the JSON holds every trial' },
    besideAlone: true,
    notInFile: true,
  }),
  wait: flag({ ...WAITS.wait, group: OUTPUT, besideAlone: true, notInFile: true }),
  resume: option('<run>', text, {
    group: OUTPUT,
    help: 'complete an interrupted run that you began on this machine',
    notInFile: true,
    alone: { because: 'reuses the stored plan' },
  }),
  again: option('<run>', text, {
    group: OUTPUT,
    help: 'measure the plan of a run once more that you began on this machine, and compare the two runs',
    notInFile: true,
    alone: { because: 'reuses the stored plan' },
  }),
};

/** All of `pnpm bench` but its request. */
const BENCH = {
  name: 'bench',
  about: 'Measures HTTP servers on this machine, one fresh server per trial, and prints a table.',
  arguments: {
    terms: '[target...]',
    noun: 'target',
    help: `stack[/variant][@runtime], globs allowed: fastify, "fastapi/*", fastapi@3.12; ${commandLine('list')} lists them (default: ${HOME.kind === 'repository' ? 'vanilla fastify fastapi litestar uvicorn' : 'the stack.json of this project'})`,
    example: commandLine('bench vanilla fastify'),
  },
  options: OPTIONS,
  examples: [
    ['bench-http --rev main,HEAD', 'what did my branch change?'],
    ['bench-http --node 22,26', 'is a newer runtime faster?'],
    ["bench-http --slo 'p99<50ms'", 'how much load does it take?'],
    ['bench-http fastify fastapi --rounds 6', 'built-in stacks, compared'],
  ],
  usual: [
    'quick',
    'app',
    'run',
    'rev',
    'python',
    'node',
    'with',
    'get',
    'requests-file',
    'url',
    'connections',
    'rounds',
    'rate',
    'slo',
    'until-decided',
    'budget',
    'fail-on',
  ],
  notes:
    'Exit codes: 0 done, 1 a trial failed or --fail-on applies, 2 bad usage, 3 a\ntarget or engine that you named lacks its toolchain, 130 interrupted.',
  /**
   * Loads the code of a step when the command reaches it: a usage error needs no plan, and a dry run nothing that measures.
   * The code that reports is loaded with the code that measures, so that a run ends with the code that it began with.
   */
  async run(raw: BenchRequest) {
    const { resolveRequest } = await import('../conduct/resolve.ts');
    const resolved = await resolveRequest(raw);
    const { describeDry, refuseBudget, refuseFailOn } = await import('../conduct/dry.ts');
    refuseFailOn(resolved);
    refuseBudget(resolved);
    if (raw.dryRun) return print(describeDry(resolved));
    const { measureAndReport } = await import('../conduct/outcome.ts');
    return measureAndReport(resolved);
  },
} as const;

/** `pnpm bench [target...]`. */
export default defineCommand({ ...BENCH, read: readBench });

/** The same for `upgrade`: the runtimes and packages of now against newer ones, until decided. */
export const UPGRADE = defineCommand({
  ...BENCH,
  read: (values, targets, words): BenchRequest => {
    const refused = (['python', 'node', 'quick'] as const).find((name) => values[name] || undefined);
    if (refused === undefined) return readBench({ ...values, untilDecided: true }, targets, words, true);
    throw new BenchError(
      'usage',
      `upgrade does not take --${refused}`,
      refused === 'quick'
        ? 'omit --quick to get a verdict'
        : `bench --${refused} compares those that you name`,
    );
  },
});

/** Returns the request of a command line. */
function readBench(
  values: Values<typeof OPTIONS>,
  targets: string[],
  words: readonly string[],
  isUpgrade = false,
): BenchRequest {
  return {
    ...benchOptions({
      targets,
      all: values.all,
      stacks: toStacks(values),
      matrix: {
        python: values.python ?? [],
        node: values.node ?? [],
        packages: values.with.flatMap(splitVersions),
      },
      workload: values.workload,
      workers: values.workers,
      ...toCluster(values),
      noise: values.noise,
      quick: values.quick,
      load: toLoad(values),
      ...present({
        rounds: values.rounds,
        windowSeconds: values.duration,
        warmupSeconds: values.warmup === 'auto' ? undefined : values.warmup,
        timeoutSeconds: values.timeout,
        background: values.background,
        interleave: values.noInterleave ? false : undefined,
        sequentialTest: toSequentialTest(values),
        engine: values.engine,
        params: values.param.length === 0 ? undefined : Object.fromEntries(values.param),
        threads: values.threads,
        cores: values.cores,
        scale: values.scale,
        ...(isStored(values) ? {} : toUserRequests(values)),
        apps: toApps(values),
        copies:
          values.copy.length === 0
            ? undefined
            : values.copy.map((name) => ({ kind: 'folder' as const, name })),
      }),
    }),
    autoRate: values.rate === 'auto',
    typed: redactWords(words),
    dryRun: values.dryRun,
    json: values.json,
    detail: values.detail,
    wait: values.wait,
    ...present({
      ifTwo: comparesTwo(values, targets) ? testOf(values) : undefined,
      upgrade: isUpgrade || undefined,
      resume: values.resume,
      again: values.again,
      secrets: isStored(values) ? toSecrets(values.url[0]?.url, values.header) : undefined,
      openapi: values.openapi,
      failOn: values.failOn,
      why: values.why || undefined,
      revisions: values.rev.length === 0 ? undefined : values.rev,
    }),
  };
}

function isStored({ resume, again }: Values<typeof OPTIONS>): boolean {
  return (resume ?? again) !== undefined;
}

/** Returns the rate of the main window, the first, and the others. Throws for shares: nothing finds the capacity. */
function toRates(loads: readonly CurveLoad[]): { perSecond: number; curve?: CurveLoad[] } {
  const [first, ...others] = loads.map((one) => {
    if ('perSecond' in one) return one.perSecond;
    throw new BenchError(
      'usage',
      '--rate: a share needs the capacity that it is a share of',
      "add --slo 'p99<50ms', or write rates, e.g. --rate 500,1000,2000",
    );
  });
  const perSecond = first as number;
  const curve = others.filter((one) => one !== perSecond).map((one) => ({ perSecond: one }));
  return { perSecond, ...(curve.length === 0 ? {} : { curve }) };
}

function toLoad({ rate, amount, slo, newConnections: isNew }: Values<typeof OPTIONS>): LoadMode {
  const connecting = isNew ? { newConnections: true as const } : {};
  if (slo !== undefined) {
    if (rate === 'auto')
      throw new BenchError(
        'usage',
        '--rate auto and --slo cannot be combined',
        'omit --rate, or name loads, e.g. --rate 25%,50%',
      );
    return { mode: 'promise', promises: slo, ...present({ curve: rate }), ...connecting };
  }
  // A rate that is measured first replaces this one; until then any rate makes the same plan.
  if (rate === 'auto') return { mode: 'open', perSecond: 1, ...connecting };
  if (rate !== undefined) return { mode: 'open', ...toRates(rate), ...connecting };
  return amount === undefined
    ? { mode: 'closed', ...connecting }
    : { mode: 'amount', requests: amount, ...connecting };
}

/** The hosts of a run, and the numbers of connections: those of the command line first. */
function toCluster({
  cluster: file,
  connections: typed,
}: Values<typeof OPTIONS>): Pick<Partial<BenchOptions>, 'cluster' | 'spread' | 'connections' | 'generators'> {
  if (file === undefined) return present({ connections: typed });
  const { connections, ...read } = readCluster(file);
  const rungs = present({ connections: typed ?? connections });
  if ('spread' in read) return { ...read, ...rungs };
  const { generators, processes } = read.cluster;
  return { ...read, generators: generators * processes, ...rungs };
}

function toApps({ app, run, copy: copies }: Values<typeof OPTIONS>): AppOptions[] | undefined {
  const folder = app ?? copies[0];
  if (folder === undefined || run === undefined) return undefined;
  return [
    {
      folder,
      run,
      ...present({ name: app === undefined ? nameOfCopies(copies) : undefined }),
    },
  ];
}

/** The name that all copies share; undefined if their folders are those of the project itself. */
function nameOfCopies(copies: readonly string[]): string | undefined {
  const names = new Set(copies.map((folder) => basename(resolve(folder))));
  return names.size > 1 ? 'app' : undefined;
}

/** The manifests; that of the first copy if neither a manifest nor a command is named. */
function toStacks({ stack, run, copy: [first] }: Values<typeof OPTIONS>): string[] {
  if (first === undefined || run !== undefined || stack.length > 0) return stack;
  if (existsSync(join(HOME.root, 'stack.json'))) return stack;
  const own = join(first, 'stack.json');
  if (existsSync(own)) return [own];
  throw new BenchError(
    'usage',
    `--copy ${first}: the folder has no stack.json, and --run is missing`,
    "add --run, e.g. --run 'uvicorn app:app --port {port}'",
  );
}

function toSequentialTest(values: Values<typeof OPTIONS>): BenchOptions['sequentialTest'] {
  const { untilDecided, budget, by, threshold } = values;
  const isAsked = untilDecided || [budget, by, threshold].some((one) => one !== undefined);
  return isAsked ? testOf(values) : undefined;
}

/** Options of runs that do not go on until they are decided. */
const OTHER_RUNS = ['rounds', 'slo', 'amount', 'background', 'scale', 'cluster'] as const;

/** Returns true if a run of two targets can go on until it is decided: it has no number of rounds, and measures one load. */
function comparesTwo(values: Values<typeof OPTIONS>, targets: readonly string[]): boolean {
  const isOther =
    values.all ||
    values.quick ||
    values.noise ||
    'curve' in toLoad(values) ||
    OTHER_RUNS.some((name) => values[name] !== undefined);
  return !isOther && targets.every((pattern) => !pattern.includes('*'));
}

function testOf(values: Values<typeof OPTIONS>): NonNullable<BenchOptions['sequentialTest']> {
  const by = values.by ?? usualMetric({ load: toLoad(values) });
  return {
    by,
    threshold: values.threshold ?? thresholdFor(by),
    ...present({
      beyond: values.failOn?.some((verdict) => verdict === 'slower' || verdict === 'faster') || undefined,
      budgetSeconds: values.budget,
    }),
  };
}

/** The servers and the requests that were named. The path of `--url` is a request unless others are named. */
function toUserRequests(values: Values<typeof OPTIONS>): Pick<BenchOptions, 'servers' | 'userRequests'> {
  const { url: named, requestsFile: file, openapi } = values;
  const written = [...values.get.map((one) => ({ method: 'GET', path: one })), ...values.request];
  const isNamed = written.length > 0 || file !== undefined || openapi !== undefined;
  if (named.length === 0 && !isNamed) return {};
  const servers = named.map(({ name, url }) => ({ ...toSecrets(url, []), ...present({ name }) }));
  const paths = new Set(named.map(({ url }) => readPath(url)));
  refusePaths(paths, isNamed);
  const headers = Object.assign(
    {},
    ...servers.map((one) => one.headers),
    Object.fromEntries(values.header),
  ) as Record<string, string>;
  const verb = values.body === undefined ? 'GET' : 'POST';
  return {
    ...(named.length === 0
      ? {}
      : {
          servers: servers.map(({ url, name }) => ({ url: url as URL, ...present({ name }) })),
        }),
    userRequests: {
      requests: isNamed ? written : [...paths].map((one) => ({ method: verb, path: one })),
      headers,
      ...present({
        body: values.body,
        draft: file === undefined ? undefined : readRequests(file).draft,
      }),
    },
  };
}

/** The path and the query of an address. Placeholders such as {id} are not encoded. */
function readPath({ pathname, search }: URL): string {
  return pathname.replaceAll(/%7B([\w.:-]+)%7D/gi, '{$1}') + search;
}

/** Throws a usage error for addresses whose paths differ, or that have a path beside other requests. */
function refusePaths(paths: ReadonlySet<string>, isNamed: boolean): void {
  const [first, second] = paths;
  if (isNamed && [...paths].some((one) => one !== '/')) {
    throw new BenchError(
      'usage',
      `--url has the path ${redactUrl(first ?? '')}, but other options name the requests`,
      'omit the path of --url',
    );
  }
  if (second !== undefined) {
    throw new BenchError(
      'usage',
      `the addresses of --url have different paths: ${redactUrl(first ?? '')} and ${redactUrl(second)}`,
      'omit the paths, and name the request: --get /orders',
    );
  }
}
