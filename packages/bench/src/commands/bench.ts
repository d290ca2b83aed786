/** `pnpm bench`: its options, and their translation into the options of a plan. */
import { LONGEST_WARMUP_SECONDS, usualMetric } from 'bench-model/planned';
import { PROMISED, readPromises } from 'bench-model/promise';
import type { BackgroundRequest, CurveLoad, LoadMode } from 'bench-model/settings';
import { METRIC_IDS } from 'bench-model/metrics';
import { refuseFirst, UsageError } from 'bench-model/errors';
import { ENGINE_NAMES } from 'bench-model/engines';
import { benchOptions, present, thresholdFor, VERDICTS, type BenchOptions } from 'bench-model/options';
import { readCluster } from 'bench-targets/catalogue/cluster';
import { PACKAGES, splitVersions } from 'bench-targets/catalogue/packages';
import { WORKLOAD_NAMES } from 'bench-targets/catalogue/workloads/index';
import { MOST_ROUNDS } from 'bench-model/limits';
import { HOME, commandLine } from 'bench-machine/home';
import { readRequests } from 'bench-targets/catalogue/workloads/requests/file';
import { readText } from 'bench-targets/catalogue/workloads/requests/texts';
import { redactUrl, redactWords } from 'bench-machine/redact';
import type { BenchRequest } from '../plan/request.ts';
import { nameProject, sortThings, type Things } from '../cli/things.ts';
import {
  defineCommand,
  flag,
  explainEach,
  inGroup,
  option,
  repeated,
  WAITS,
  type Parsed,
  type Values,
} from '../cli/command.ts';
import { print } from '../terminal/shell.ts';
import {
  PATHS,
  ADDRESS,
  curveLoad,
  header,
  listOf,
  oneOf,
  pair,
  path,
  request,
  share,
  span,
  text,
  variable,
  warmup,
  wholeNumber,
} from '../cli/values.ts';

/** The options of a run until decided. */
const OF_A_TEST = {
  rounds: 'omit --rounds: a run until decided chooses its own',
  quick: 'omit --quick to get a verdict',
};

/** Options that choose, prepare or start a server, or choose the workload of its stack. */
const LAUNCHES = 'stack run env workload param python node with workers threads scale why'.split(' ');

/** Options that name a stored plan. A header beside them supplies a secret that it does not keep. */
const OF_STORED_PLAN = {
  alone: 'reuses the stored plan',
  beside: 'header fail-on why dry-run detail json wait'.split(' '),
};

/** The options of every command that measures. */
export const OPTIONS = {
  ...inGroup('What to measure', {
    stack: repeated('<file>', text, { help: 'a stack.json from outside the repository' }),
    workload: option('<name>', oneOf(WORKLOAD_NAMES), {
      conflicts: explainEach(
        ['get', 'request', 'requests-file', 'openapi'],
        'a run has one source of requests: omit one of them',
      ),
      help: `${WORKLOAD_NAMES.join(', ')}. users and users-insert use PostgreSQL: an embedded one, or DATABASE_URL`,
      default: 'devices',
    }),
    param: repeated('<name=n>', pair, {
      help: 'a parameter of the workload, e.g. --workload fib --param n=24',
    }),
    quick: flag({
      help: 'a first impression in under a minute; too short for a comparison',
      conflicts: { noise: 'omit --quick to compare' },
    }),
  }),
  ...inGroup('Your own service', {
    run: repeated('<command>', text, {
      separator: null,
      help: "the command that starts your server, in the named folder or this one; Bench replaces {port}, as in 'uvicorn app:app --port {port}', and sets PORT and HOST; two are compared",
    }),
    env: option('<name=values>', variable, {
      help: 'compare several values of a variable, e.g. WORKERS=1,4',
    }),
  }),
  ...inGroup('On which runtimes and versions', {
    python: option('<list>', listOf(text), {
      help: 'the same targets on several Pythons, e.g. 3.12,3.14+jit,mine=/a/path/python',
    }),
    node: option('<list>', listOf(text), {
      help: 'the same targets on several JavaScript runtimes, e.g. 22,26,bun',
    }),
    with: repeated('<package>', text, {
      help: 'a package to use instead of the locked one: fastapi==0.115 (Python), fastify@5.1.0 (npm), or the folder of a checkout; name several to compare them; for upgrade, a name alone is its newest release',
      separator: PACKAGES,
    }),
  }),
  ...inGroup('Load', {
    connections: option('<list>', listOf(wholeNumber()), {
      short: 'c',
      help: 'the numbers of connections, each measured separately, e.g. 10,100,1000',
      usually: 'set by the workload',
    }),
    rounds: option('<n>', wholeNumber(1, MOST_ROUNDS), {
      help: 'how often each target is measured',
      usually:
        '3; for two targets, and with --budget, --by or --threshold, until every comparison has a verdict',
    }),
    duration: option('<time>', span(), {
      short: 'd',
      help: 'the length of the measured window',
      usually: 'set by the workload',
    }),
    warmup: option('<time>', warmup, {
      help: `load before the measured window. auto: until the server is warm, at most ${LONGEST_WARMUP_SECONDS} s`,
      usually: 'auto',
    }),
    timeout: option('<time>', span(), { help: 'the timeout of one request', usually: 'set by the workload' }),
    amount: option('<n>', wholeNumber(), {
      help: 'send exactly n requests, however long that takes, instead of measuring a window',
      conflicts: {
        duration: 'omit --duration: the run ends when all requests have a response',
        rate: 'omit --amount: an open loop runs for --duration',
      },
    }),
    rate: option('<loads>', listOf(curveLoad), {
      help: 'an open loop: n requests start per second, and latency counts from the intended start. Several, such as 500,1000,2000, show latency and CPU over load; with --slo, also shares of the capacity, such as 25%,50%,75%,90%',
      usually: 'a closed loop',
    }),
    slo: option('<objectives>', readPromises, {
      help: `find the capacity: the highest rate of independent requests that meets these SLOs, such as 'p99<50ms' or 'p99.9<200ms,errors<0.1%'. An SLO limits ${PROMISED.slice(0, -1).join(', ')} or ${PROMISED.at(-1)}. --duration is the length of a search`,
      usually: 'a closed loop',
      conflicts: {
        amount: 'omit --amount: a search runs for --duration',
        scale: 'measure the sizes in several runs with --workers',
        quick: 'omit --quick: a search takes longer',
        background: 'omit one of them',
      },
    }),
    background: option('<request>', request, {
      help: 'measure every target twice: with this request in flight, and without; e.g. "GET /fib/42"',
    }),
    cluster: option('<file>', text, {
      help: 'send the load from the hosts that this file names, or spread the rounds over them; e.g. bench.cluster.json',
      conflicts: { scale: 'omit --cluster: --scale plans for the cores of this machine' },
    }),
    'new-connections': flag({
      help: 'open a new connection for each request, and report how long that takes',
    }),
    engine: option('<name>', oneOf(ENGINE_NAMES), {
      help: `the program that sends the load: ${ENGINE_NAMES.join(', ')}`,
      usually: 'autocannon',
    }),
  }),
  ...inGroup('Servers', {
    workers: option('<n>', wholeNumber(), { help: 'workers of each server', default: 1 }),
    threads: option('<n>', wholeNumber(), {
      help: 'threads of each worker, for stacks that let you choose',
      usually: 'set by the stack',
    }),
    cores: option('<n>', wholeNumber(), {
      help: 'cores that a server can use',
      usually: 'as many as workers',
    }),
    scale: option('<list>', listOf(wholeNumber()), {
      help: 'measure every target on each of these numbers of cores, e.g. 1,2,4, and compare with 1 core: with one worker per core, and also with one thread per core if its stack lets you choose threads',
      conflicts: {
        ...explainEach(['workers', 'threads', 'cores'], '--scale sets all three: omit the other option'),
        rate: 'omit --rate: it limits the goodput, so there would be no speed-up to measure',
        noise: 'measure the noise in a run without --scale',
        background: 'measure it without --scale',
      },
    }),
  }),
  ...inGroup('Your own requests', {
    get: repeated('<path>', path, {
      separator: PATHS,
      help: "send GET requests to this path instead of a workload, e.g. '/orders?limit=20'",
    }),
    request: repeated('<request>', request, {
      separator: /,(?=\s*[A-Za-z]+\s+\/)/,
      help: "send this request, e.g. 'POST /orders'",
    }),
    'requests-file': option('<file>', text, {
      help: 'send the requests of this JSON file, which can have weights, expected responses and a login',
    }),
    openapi: option('<document>', text, {
      help: 'send the GET requests of an OpenAPI document: a file, an address, or a path of a running server such as /openapi.json',
      conflicts: { 'requests-file': 'omit one of them' },
    }),
    header: repeated('<name: value>', header, {
      // A value can hold commas.
      separator: null,
      help: 'a header of every request',
    }),
    body: option('<text>', (typed) => typed, {
      help: 'the body of --request or --background: text or @file',
    }),
  }),
  ...inGroup('Comparing', {
    'no-interleave': flag({
      help: 'run one server at a time, even where several at once, loaded in short turns, show smaller differences',
    }),
    'no-control': flag({
      help: 'plant no known cost into turns of the baseline, which a run until decided reads back',
      conflicts: OF_A_TEST,
    }),
    noise: flag({ help: 'A/A: measure the first target twice, to show the noise of this machine' }),
    budget: option('<time>', span(), {
      help: 'stop after this time, even if undecided, e.g. 10m',
      conflicts: OF_A_TEST,
    }),
    by: option('<metric>', oneOf(METRIC_IDS), {
      help: `the metric that decides: ${METRIC_IDS.join(', ')}`,
      usually: 'cpu; capacity with --slo',
      conflicts: OF_A_TEST,
    }),
    threshold: option('<share>', share, {
      help: 'the smallest difference that matters',
      usually: '2%; 5% of a capacity',
      conflicts: OF_A_TEST,
    }),
    'fail-on': option('<verdicts>', listOf(oneOf(VERDICTS)), {
      help: `exit with 1 if the comparison finds one of these: ${VERDICTS.join(', ')}. faster and slower count if the whole interval lies beyond the threshold`,
      conflicts: { quick: 'omit --quick: it is too short for a comparison' },
    }),
    why: flag({
      help: 'after the verdicts, start the servers of each difference again under a profiler (about 1 min), and name the lines that cost more or less',
      conflicts: { quick: 'omit --quick: it is too short for a comparison' },
    }),
  }),
  ...inGroup('Output and stored runs', {
    'dry-run': flag({
      help: 'print the plan and how long it takes, but start nothing',
      conflicts: {
        json: 'omit --json: a plan is printed as text only',
        detail: 'omit --detail: a dry run measures nothing',
      },
    }),
    detail: flag({ help: 'print every column and every trial' }),
    json: flag({
      help: 'print the whole run as JSON',
      conflicts: { detail: 'omit --detail: the JSON holds every trial' },
    }),
    ...WAITS,
    resume: option('<run>', text, {
      help: 'complete an interrupted run that you began on this machine',
      ...OF_STORED_PLAN,
    }),
    again: option('<run>', text, {
      help: 'measure the plan of a run once more that you began on this machine, and compare the two runs',
      ...OF_STORED_PLAN,
    }),
  }),
};

/** Returns the options that a server which is already running excludes, and those that take nothing but its address. */
export function refuseBesideThings(words: readonly string[]): Record<string, string> {
  return {
    ...(words.some((word) => ADDRESS.test(word)) &&
      explainEach(LAUNCHES, 'the server is already running: omit the option, or name its folder')),
    ...(words.some((word) => !ADDRESS.test(word)) &&
      explainEach(['resume', 'again'], 'a stored plan has its own targets')),
  };
}

/** All of `pnpm bench` but its request. */
export const SPEC = {
  name: 'bench',
  about: 'Measures HTTP servers on this machine, one fresh server per trial, and prints a table.',
  arguments: {
    terms: '[target...]',
    noun: 'target',
    help: `stack[/variant][@runtime], globs allowed: fastify, "fastapi/*", fastapi@3.12, which ${commandLine('list')} lists; or a revision, a folder or an address, such as old=http://127.0.0.1:3000 (default: ${HOME.kind === 'repository' ? 'vanilla fastify fastapi litestar uvicorn' : 'the stack.json of this project'})`,
    example: commandLine('bench vanilla fastify'),
    conflicts: refuseBesideThings,
  },
  options: OPTIONS,
  examples: [
    ['bench-http bench --quick', 'a first impression of this service'],
    ["bench-http bench --slo 'p99<50ms'", 'how much load does it take?'],
    ['bench-http bench http://127.0.0.1:3000', 'a server that is already running'],
    ['bench-http bench fastify fastapi', 'stacks of Bench, in its clone'],
  ],
  usual: 'quick get requests-file connections rounds duration rate slo json',
  notes:
    'Exit codes: 0 done, 1 a trial failed or --fail-on applies, 2 bad usage, 3 a\ntarget or engine that you named lacks its toolchain, 130 interrupted.',
  /**
   * Loads the code of a step when the command reaches it: a usage error needs no plan, and a dry run nothing that measures.
   * The code that reports is loaded with the code that measures, so that a run ends with the code that it began with.
   */
  async run(raw: BenchRequest) {
    const { resolveRequest } = await import('../conduct/resolve.ts');
    const resolved = await resolveRequest(raw);
    if (raw.dryRun) {
      const { describePlan } = await import('bench-report/plan');
      return print(`${describePlan(resolved.outline)}\n`);
    }
    const { measureAndReport } = await import('../conduct/outcome.ts');
    return measureAndReport(resolved);
  },
} as const;

/** `pnpm bench [target...]`. */
export default defineCommand({ ...SPEC, read: readBench });

/** Returns the request of a command line. */
export function readBench(
  values: Parsed<typeof OPTIONS>,
  words: readonly string[],
  asked: Pick<BenchRequest, 'upgrade' | 'compares'> = {},
): BenchRequest {
  const things = sortThings(values.args, values.stack);
  // One revision is compared with the working tree.
  if (asked.compares && things.revisions.length === 1) things.revisions.push('.');
  const { targets, revisions, addresses } = things;
  const headers: Record<string, string> = Object.assign(
    {},
    ...addresses.map((one) => one.headers),
    Object.fromEntries(values.header),
  );
  const isStored = (values.resume ?? values.again) !== undefined;
  return {
    ...benchOptions({
      targets,
      ...nameProject(things, values),
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
        warmupSeconds: values.warmup,
        timeoutSeconds: values.timeout,
        background: toBackground(values),
        interleave: values.noInterleave ? false : undefined,
        control: values.noControl ? false : undefined,
        sequentialTest: isTested(values, asked) ? testOf(values) : undefined,
        engine: values.engine,
        params: values.param.length === 0 ? undefined : Object.fromEntries(values.param),
        threads: values.threads,
        cores: values.cores,
        scale: values.scale,
        ...(isStored ? {} : toUserRequests(values, addresses, headers)),
      }),
    }),
    ...asked,
    typed: redactWords(words),
    dryRun: values.dryRun,
    json: values.json,
    detail: values.detail,
    wait: values.wait,
    ifTwo:
      canBeDecided(values) && targets.every((pattern) => !pattern.includes('*')) ? testOf(values) : undefined,
    resume: values.resume,
    again: values.again,
    secrets: isStored ? { headers, url: addresses[0]?.url } : undefined,
    openapi: values.openapi,
    failOn: values.failOn,
    why: values.why || undefined,
    revisions: revisions.length === 0 ? undefined : revisions,
  };
}

/** Returns the rate of the main window, the first, and the others. Throws for shares: nothing finds the capacity. */
function toRates(loads: readonly CurveLoad[]): { perSecond: number; curve?: CurveLoad[] } {
  const [first, ...others] = loads.map((one) => {
    if ('perSecond' in one) return one.perSecond;
    throw new UsageError(
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
  if (slo !== undefined)
    return { mode: 'promise', promises: slo, ...present({ curve: rate }), ...connecting };
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

/** Returns true for a run that goes on until it is decided, whatever the number of its targets. */
function isTested(
  values: Values<typeof OPTIONS>,
  { upgrade, compares }: Pick<BenchRequest, 'upgrade' | 'compares'>,
): boolean {
  const isNamed = [values.budget, values.by, values.threshold].some((one) => one !== undefined);
  return isNamed || upgrade === true || (compares === true && canBeDecided(values));
}

/** Options of runs that do not go on until they are decided. */
const OTHER_RUNS = ['rounds', 'slo', 'amount', 'background', 'scale', 'cluster'] as const;

/** Returns true if a run can go on until it is decided: it has no number of rounds, and measures one load. */
function canBeDecided(values: Values<typeof OPTIONS>): boolean {
  const isOther = values.quick || values.noise || 'curve' in toLoad(values);
  return !isOther && OTHER_RUNS.every((name) => values[name] === undefined);
}

function testOf(values: Values<typeof OPTIONS>): NonNullable<BenchOptions['sequentialTest']> {
  const by = values.by ?? usualMetric({ load: toLoad(values) });
  return {
    by,
    threshold: values.threshold ?? thresholdFor(by),
    beyond: values.failOn?.some((verdict) => verdict === 'slower' || verdict === 'faster') || undefined,
    budgetSeconds: values.budget,
  };
}

/** True if the body is that of the background request: there is no other request to have it. */
function isOfBackground({ background, request: asked }: Values<typeof OPTIONS>): boolean {
  return background !== undefined && asked.length === 0;
}

/** Returns the background request, with its body. */
function toBackground(values: Values<typeof OPTIONS>): BackgroundRequest | undefined {
  const { background, body } = values;
  if (background === undefined || body === undefined || !isOfBackground(values)) return background;
  return { ...background, body: readText(body, '--body') };
}

/** The servers and the requests that were named. The path of an address is a request unless others are named. */
function toUserRequests(
  values: Values<typeof OPTIONS>,
  addresses: Things['addresses'],
  headers: Record<string, string>,
): Pick<BenchOptions, 'servers' | 'userRequests'> {
  const { requestsFile: file, openapi } = values;
  const written = [...values.get.map((one) => ({ method: 'GET', path: one })), ...values.request];
  const isNamed = written.length > 0 || file !== undefined || openapi !== undefined;
  const body = isOfBackground(values) ? undefined : values.body;
  if (addresses.length === 0) {
    const hasNoBody = body !== undefined && values.request.length === 0;
    if (hasNoBody || (values.header.length > 0 && !isNamed))
      throw new UsageError(
        `--${hasNoBody ? 'body' : 'header'} has no effect without a request`,
        "add one, e.g. --request 'POST /orders'",
      );
    if (!isNamed) return {};
  }
  const servers = addresses.map(({ url, name }) => ({ url, ...present({ name }) }));
  const paths = new Set(addresses.map(({ url }) => readPath(url)));
  refusePaths(paths, isNamed);
  const method = body === undefined ? 'GET' : 'POST';
  return {
    ...(servers.length > 0 && { servers }),
    userRequests: {
      requests: isNamed ? written : [...paths].map((one) => ({ method, path: one })),
      headers,
      ...present({ body, draft: file === undefined ? undefined : readRequests(file).draft }),
    },
  };
}

/** The path and the query of an address. Placeholders such as {id} are not encoded. */
function readPath({ pathname, search }: URL): string {
  return pathname.replaceAll(/%7B([\w.:-]+)%7D/gi, '{$1}') + search;
}

/** Throws a usage error for addresses whose paths differ, or that have a path beside other requests. */
function refusePaths(paths: ReadonlySet<string>, isNamed: boolean): void {
  const [first, second] = Array.from(paths, redactUrl);
  refuseFirst([
    [
      isNamed && [...paths].some((one) => one !== '/'),
      `the address has the path ${first}, but options name the requests`,
      'omit the path',
    ],
    [
      second !== undefined,
      `the addresses have different paths: ${first} and ${second}`,
      'omit the paths, and name the request: --get /orders',
    ],
  ]);
}
