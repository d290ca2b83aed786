/** Every command by the name of its script, and the declarations of all but `bench`. */
import { FACTORS, type Factor } from 'bench-analysis/unlike';
import type { Question } from 'bench-analysis/compare';
import { LANGUAGES, type NewStack } from 'bench-targets/catalogue/scaffold';
import { WORKLOAD_NAMES } from 'bench-targets/catalogue/workloads/index';
import { METRIC_IDS } from 'bench-model/metrics';
import { UPSTREAMS } from 'bench-model/upstreams';
import { BenchError } from 'bench-model/errors';
import { commandLine, HOME } from 'bench-machine/home';
import {
  benchOptions,
  DEFAULT_THRESHOLD,
  present,
  START_SECONDS,
  type BenchOptions,
} from 'bench-model/options';
import { BENCH, VERDICTS, WAITS } from './bench.ts';
import { ARGUMENTS, defineCommand, flag, option, repeated, type Command } from './command.ts';
import { extra, listOf, oneOf, pair, seconds, share, span, text, wholeNumber } from './values.ts';

export const BUILD = defineCommand({
  name: 'build',
  about:
    'Builds the environments, dependencies and binaries of stacks in advance. Otherwise the first run of a stack builds them.',
  arguments: {
    terms: '[stack...]',
    noun: 'stack',
    help: 'names of stacks (default: all)',
    example: commandLine('build gin'),
  },
  options: {},
  read: (_values, stacks) => ({ stacks }),
});

export const CALIBRATE = defineCommand({
  name: 'calibrate',
  about:
    'Measures servers with known behaviour and prints the errors of Bench on this machine: latency, CPU per request, memory. Takes about four minutes, and longer if the machine is disturbed.',
  options: {
    budget: option('<time>', span(), {
      help: 'the time for all rounds; disturbed rounds are repeated while time is left',
      usually: '10m',
    }),
    ...WAITS,
  },
  notes:
    'Exit codes: 0 no error exceeds its tolerance, 1 an error exceeds its tolerance\nor was not measured. Undecided errors are listed, and do not change the code.',
  read: (values) => values,
});

export const CHECK = defineCommand({
  name: 'check',
  about:
    'Checks formatting, lint, types and unit tests. Formatters run first, and compiled languages last. Prints the failed jobs and their errors at the end.',
  arguments: {
    terms: '[name]',
    noun: 'name',
    help: 'typescript, python, go, rust, csharp or the name of a stack; for a stack, its contract tests and its row in the table of stacks are checked too (default: all languages)',
    example: 'pnpm check fastify',
  },
  options: { fix: flag({ help: 'correct everything that can be corrected automatically' }) },
  notes: 'Go and Rust are compiled only if their sources have changed or you name them.',
  read: ({ fix }, [name]) => ({ fix, name }),
});

export const CLEAN = defineCommand({
  name: 'clean',
  about:
    'Lists what Bench keeps on this machine, with sizes. Removes the items that you name, but asks first. Never removes published runs.',
  arguments: {
    terms: '[name...]',
    noun: 'name',
    help: 'environments, builds, tools, revisions, runs, or one item of the list',
    example: commandLine('clean environments'),
  },
  options: { yes: flag({ help: 'remove without asking', needs: ARGUMENTS }) },
  read: ({ yes }, names) => ({ yes, names }),
});

export const CI = defineCommand({
  // pnpm has a command named ci.
  name: HOME.kind === 'repository' ? 'bench:ci' : 'ci',
  about:
    'Measures the targets of bench.config.json and checks its budgets. Prints each budget, and writes a summary in Markdown to .bench/summary.md and to the summary of a GitHub job.',
  options: {
    config: option('<file>', text, {
      help: 'the configuration',
      usually: 'bench.config.json of the project',
    }),
    'dry-run': flag({ help: 'print the plans and how long they take; start nothing' }),
    ...WAITS,
  },
  notes:
    'Exit codes: 0 every budget is kept or undecided, 1 a budget is broken or a trial\nfailed, 2 the configuration is not valid, 3 a toolchain is missing,\n130 interrupted.',
  read: (values) => values,
});

/** A parsed `pnpm compare` command. */
export interface CompareRequest {
  runs: string[];
  question: Question;
  failOn: (typeof VERDICTS)[number][];
  across?: Factor;
  force: boolean;
  format?: 'markdown' | 'json';
}

export const COMPARE = defineCommand({
  name: 'compare',
  about:
    'Compares the targets inside one run with a baseline, round by round. With two runs, prints the ratio of each target to itself, without a verdict.',
  arguments: {
    terms: '<run> [later-run]',
    noun: 'run',
    help: 'the id of a stored run, its folder, or latest',
    more: 'compare each target with itself in this later run, instead of with the other targets of <run>',
    example: commandLine('compare <run> [later-run]'),
  },
  options: {
    by: option('<metric>', oneOf(METRIC_IDS), { help: METRIC_IDS.join(', '), default: 'cpu' }),
    baseline: option('<target>', text, {
      help: 'the target that the others are compared with. @3.12 compares each stack with itself on that runtime. The name of a revision or a copy, such as main, compares each target with itself in that version. undisturbed compares each target with and without its background request',
      usually: 'the pairs that the run was planned for, otherwise its first target',
    }),
    threshold: option('<share>', share, { help: 'the smallest difference that matters', usually: '2%' }),
    across: option('<factor>', oneOf(FACTORS), {
      help: `the one factor that may differ: ${FACTORS.join(', ')}`,
    }),
    force: flag({ help: 'compare unlike runs, and mark the output' }),
    'fail-on': option('<verdicts>', listOf(oneOf(VERDICTS)), {
      help: `exit with 1 if one of these is found in the run: ${VERDICTS.join(', ')}. faster and slower count if the whole interval lies beyond the threshold`,
    }),
    format: option('<name>', oneOf(['markdown', 'json']), {
      help: 'print the comparison as markdown or json',
    }),
    json: flag({ help: 'the same as --format json', conflicts: { format: 'omit one of them' } }),
  },
  notes: 'Exit codes: 0 compared, 1 --fail-on applies, 2 refused or bad usage.',
  read(
    { by, threshold = DEFAULT_THRESHOLD, baseline, failOn = [], across, format, json, ...rest },
    runs,
  ): CompareRequest {
    if (baseline !== undefined && runs.length > 1) {
      throw new BenchError(
        'usage',
        '--baseline names a target of one run, so a second run cannot be combined with it',
        'omit --baseline: each target is compared with itself in the other run',
      );
    }
    if (failOn.length > 0 && runs.length > 1) {
      throw new BenchError(
        'usage',
        '--fail-on needs one run that holds both sides: two runs of different times have no verdict',
        `measure both sides in one run: ${commandLine(`bench --again ${runs[0]} --rev HEAD --fail-on ${failOn.join()}`)}, or ${commandLine(CI.name)}`,
      );
    }
    return {
      ...rest,
      runs,
      question: { by, threshold, ...present({ baseline }) },
      failOn,
      ...present({ across, format: json ? 'json' : format }),
    };
  },
});

const NEW_EXAMPLE = 'pnpm new stack hono --language typescript';

/** A parsed `pnpm cluster` command. */
export type ClusterRequest =
  | { action: 'check'; file: string }
  | { action: 'down' }
  | { action: 'up'; local: number }
  | { action: 'up'; role: string; join?: string; ip?: string };

const CLUSTER_EXAMPLE = 'pnpm cluster up --local 4';

export const CLUSTER = defineCommand({
  name: 'cluster',
  about:
    'Starts, checks and stops the nodes of a Ray cluster for pnpm bench --cluster. Installs Ray on first use.',
  arguments: {
    terms: '<action>',
    noun: 'action',
    help: 'up: start nodes on this machine; check: list the hosts, and say whether they can take part; down: stop the nodes that up started',
    example: CLUSTER_EXAMPLE,
  },
  options: {
    local: option('<n>', wholeNumber(2), {
      help: 'start n nodes on this machine, to try a cluster: one for the server, the others for the load',
      conflicts: { role: 'omit one of them' },
    }),
    role: option('<name>', text, {
      help: 'start one node with this role: server, generator, or one of "roles" in the file',
    }),
    join: option('<address>', text, {
      help: 'the head of the cluster, e.g. 10.0.0.1:6379',
      usually: 'this node becomes the head',
      needs: 'role',
    }),
    ip: option('<address>', text, {
      help: 'the address of this host that the others reach',
      usually: 'the one that Ray finds',
      needs: 'role',
    }),
    cluster: option('<file>', text, { help: 'the file to check', default: 'bench.cluster.json' }),
  },
  notes: 'Exit codes: 0 done, 1 check found a problem, 2 bad usage, 3 a toolchain is\nmissing.',
  read({ local, role, join, ip, cluster }, [action = '']): ClusterRequest {
    if (action === 'check') return { action, file: cluster };
    if (action === 'down') return { action };
    if (action === 'up' && local !== undefined) return { action, local };
    if (action === 'up' && role !== undefined) return { action, role, ...present({ join, ip }) };
    throw new BenchError(
      'usage',
      action === 'up'
        ? 'up needs --local or --role'
        : `pnpm cluster takes up, check or down, not "${action}"`,
      CLUSTER_EXAMPLE,
    );
  },
});

export const NEW = defineCommand({
  name: 'new',
  about:
    'Writes a new stack that answers the workload devices and passes its contract tests, and prints the next steps. It overwrites nothing.',
  arguments: {
    terms: '<stack> <name>',
    noun: 'stack',
    plural: 'arguments',
    help: 'the word "stack"',
    more: 'the name of the stack: lower-case letters, digits and dashes',
    example: NEW_EXAMPLE,
  },
  options: {
    language: option('<language>', oneOf(LANGUAGES), { help: `${LANGUAGES.join(', ')} (required)` }),
    framework: option('<packages>', listOf(text), {
      help: 'packages to depend on, from npm (typescript) or PyPI (python), the framework first: hono,@hono/node-server',
      needs: 'language',
    }),
  },
  read({ language, framework }, [kind, name = '']): NewStack {
    if (kind !== 'stack') {
      throw new BenchError('usage', `pnpm new writes a stack, not "${kind}"`, NEW_EXAMPLE);
    }
    if (language === undefined) {
      throw new BenchError(
        'usage',
        '--language is missing',
        `add --language with one of ${LANGUAGES.join(', ')}`,
      );
    }
    if (framework !== undefined && language !== 'typescript' && language !== 'python') {
      throw new BenchError(
        'usage',
        `--framework is not possible with --language ${language}`,
        'omit it: the next steps that pnpm new prints say how to add a framework',
      );
    }
    return { name, language, packages: framework ?? [] };
  },
});

export const POWER = defineCommand({
  name: 'bench:power',
  about:
    'Measures how often a comparison is right. Compares two builds of one server, one of which uses 3 %, 0 % or 1.5 % more CPU per request, for at most 2 minutes each, and measures both with stock autocannon too. Compares five builds that use 0, 0, 3, 3 and 6 % more with a common baseline, for at most 10 minutes each. Adds the results to a pool.',
  options: {
    tests: option('<n>', wholeNumber(0), {
      help: 'comparisons of two builds to add; 0 only prints the pool',
      usually: '3, or 0 with --matrices or --noise',
    }),
    effects: option('<share,…>', listOf(extra), {
      help: 'the effects to plant in these comparisons; the next comparison gets the effect with the fewest comparisons in the pool',
      usually: '3%,0,1.5%',
    }),
    'no-stock': flag({ help: 'do not measure the two builds with stock autocannon' }),
    matrices: option('<n>', wholeNumber(0), {
      help: 'comparisons of five builds with a baseline to add',
      default: 0,
    }),
    noise: option('<n>', wholeNumber(0), {
      help: 'A/A rounds to add, as separate trials and as duels',
      default: 0,
    }),
    target: option('<name>', text, { help: 'the target of --noise', usually: 'vanilla', needs: 'noise' }),
    pool: option('<folder>', text, { help: 'the folder of the pool', usually: 'results/power' }),
    ...WAITS,
  },
  read: (values) => values,
});

export const PREFLIGHT = defineCommand({
  name: 'preflight',
  about:
    'Checks whether this machine is fit to measure on: limits, ports, load, governor, throttling, cores that slow each other down. Says what to change.',
  options: {
    connections: option('<n>', wholeNumber(), { help: 'the highest number of connections', default: 10_000 }),
    workers: option('<n>', wholeNumber(), { help: 'workers of each server', default: 1 }),
    cores: option('<n>', wholeNumber(), {
      help: 'cores of each server',
      usually: 'as many as workers',
      conflicts: { workers: 'omit --workers: this check uses --cores alone' },
    }),
    generators: option('<n>', wholeNumber(), { help: 'load processes', default: 1 }),
    'connect-rate': option('<n>', wholeNumber(), {
      help: 'the most connections to open per second',
      usually: 'as many as the accept queue of the server takes',
    }),
  },
  notes: 'Exit codes: 0 fit, 1 something must change first.',
  read: (values) => values,
});

/** The formats of a report other than the table for a terminal, each with its content in the words of the help. */
const FORMATS = {
  markdown: 'tables and notes',
  html: 'one file with charts',
  json: 'every value and every record',
  csv: 'one row per trial',
  bmf: 'Bencher Metric Format',
  gab: 'github-action-benchmark, metrics that should be low',
  'gab-bigger': 'github-action-benchmark, metrics that should be high',
};
export type ReportFormat = keyof typeof FORMATS;
export const REPORT_FORMATS = Object.keys(FORMATS) as ReportFormat[];

/** A parsed `pnpm report` command. */
export interface ReportRequest {
  /** Empty if a site of all runs is asked for. */
  run: string;
  ladder: boolean;
  time: boolean;
  /** Writes the HTML report and opens it in a browser. */
  open: boolean;
  /** Texts with reports of time(1) to show beside those of the run. */
  with: string[];
  detail: boolean;
  format?: ReportFormat;
  /** The folder of a site over all stored runs. */
  site?: string;
}

/** The reasons why the views of a table do not apply to formats that hold the whole run. */
const WHOLE_RUN = {
  ladder: 'the format holds every trial',
  time: 'the format holds every trial',
  detail: 'the format holds every trial',
};

const REPORT_EXAMPLE = commandLine('report latest');

export const REPORT = defineCommand({
  name: 'report',
  about: 'Prints the report of a stored run, or writes a site over all stored runs. Measures nothing.',
  arguments: {
    terms: '[run]',
    noun: 'run',
    help: 'the id of a run, its folder, or latest',
    example: REPORT_EXAMPLE,
  },
  options: {
    ladder: flag({
      help: 'print the goodput of each target by number of connections, and the knee after which it stops growing',
    }),
    time: flag({
      help: 'print the report of /usr/bin/time on each server: fields as rows, targets as columns',
      conflicts: { ladder: 'print them one after the other' },
    }),
    with: repeated('<file>', text, {
      help: 'a text with pasted reports of time -l (macOS) or time -v (GNU), to show beside those of the run; - is standard input',
      needs: 'time',
    }),
    detail: flag({ help: 'print every column and every trial' }),
    format: option('<name>', oneOf(REPORT_FORMATS), {
      help: `print the report in this format: ${REPORT_FORMATS.map((name) => `${name} (${FORMATS[name]})`).join(', ')}`,
    }),
    json: flag({
      help: 'the same as --format json',
      conflicts: { ...WHOLE_RUN, format: 'omit one of them' },
    }),
    open: flag({
      help: 'open the report with charts in a browser: writes report.html into the folder of the run; with --site, open the index',
      alone: { besides: [ARGUMENTS, 'site'], because: 'shows every figure' },
    }),
    site: option('<folder>', text, {
      help: 'write a site over all stored runs into a folder: index.html shows each target over time and links to a report of each run; writing again updates it',
      alone: { besides: ['open'], because: 'covers all stored runs' },
    }),
  },
  read({ format, json, site, ...views }, [run = '']): ReportRequest {
    if (run === '' && site === undefined) throw new BenchError('usage', 'name a run', REPORT_EXAMPLE);
    const [view] = (['ladder', 'time', 'detail'] as const).filter((name) => views[name]);
    if (view !== undefined && format !== undefined && format !== 'markdown') {
      throw new BenchError('usage', `--format ${format} and --${view} cannot be combined`, WHOLE_RUN[view]);
    }
    return { ...views, run, ...present({ format: json ? 'json' : format, site }) };
  },
});

export const SELF = defineCommand({
  name: 'bench:self',
  about:
    'Measures Bench itself: the cost of its load driver compared with stock autocannon, the cost of sampling, and the share of a run that is spent measuring.',
  options: { rounds: option('<n>', wholeNumber(), { help: 'rounds', default: 3 }), ...WAITS },
  read: (values) => values,
});

export const SERVE = defineCommand({
  name: 'serve',
  about: 'Starts one server for you to try by hand, with its upstream or database. Ctrl-C stops it.',
  arguments: {
    terms: '[target]',
    noun: 'target',
    help: 'stack[/variant][@runtime] (default: the stack of --stack)',
    example: commandLine('serve fastify'),
  },
  options: {
    stack: repeated('<file>', text, { help: 'a stack.json from outside the repository' }),
    port: option('<n>', wholeNumber(), { help: 'the port', default: 8080 }),
    workload: option('<name>', oneOf(WORKLOAD_NAMES), {
      help: WORKLOAD_NAMES.join(', '),
      default: 'devices',
    }),
    param: repeated('<name=n>', pair, { help: 'a parameter of the workload' }),
    upstream: option('<kind>', oneOf(UPSTREAMS), {
      help: 'the server that gather fetches from: nginx or embedded',
      usually: 'nginx if it is on PATH',
    }),
    workers: option('<n>', wholeNumber(), { help: 'workers', default: 1 }),
    threads: option('<n>', wholeNumber(), { help: 'threads of each worker', usually: 'set by the stack' }),
  },
  read: ({ param, ...values }, [target]) => ({ ...values, params: Object.fromEntries(param), target }),
});

/** A parsed `bench-http init` command. */
export interface InitRequest {
  folder: string;
  run?: string | undefined;
  get: string[];
  output?: string | undefined;
  startTimeout?: number | undefined;
  yes: boolean;
}

export const INIT = defineCommand({
  // pnpm has its own init.
  name: HOME.kind === 'repository' ? 'bench:init' : 'init',
  about:
    'Examines a project, starts its server, sends it requests, and writes the stack.json that worked. Prints its findings and its assumptions. Changes no other file.',
  arguments: {
    terms: '[folder]',
    noun: 'folder',
    help: 'the folder of the project (default: the current one)',
    example: 'bench-http init ./my-api',
  },
  options: {
    run: option('<command>', text, {
      help: 'the command that starts the server, with {port}; PORT and HOST are set too',
      usually: 'found in the project',
    }),
    get: repeated('<path>', text, { help: 'a path to request, instead of one that the server offers' }),
    output: option('<file>', text, { help: 'another file in the folder', usually: 'stack.json' }),
    'start-timeout': option('<seconds>', seconds(), {
      help: 'how long the server may take to listen; written to the manifest',
      usually: String(START_SECONDS),
    }),
    yes: flag({ help: 'choose the first of several possibilities instead of asking' }),
  },
  notes:
    'Exit codes: 0 written, 1 the server does not start or answer, 2 bad usage or an\nunanswered question, 3 a toolchain is missing, 130 interrupted.',
  read: (values, [folder = '.']): InitRequest => ({ ...values, folder }),
});

export const STACKS = defineCommand({
  name: 'stacks',
  about:
    'Lists every target with its workloads and its state: ready, built on first use, or missing with the reason. Then lists the runtimes in the same way. An unverified runtime has never been measured.',
  options: {},
  read: () => ({}),
});

/** A parsed `pnpm warm` command. */
export interface WarmRequest {
  /** The targets and their servers; the rounds are the processes. */
  options: BenchOptions;
  /** The time for which each process is observed. */
  seconds: number;
  json: boolean;
  wait: boolean;
}

/** A study shorter than twice the default warm-up shows no level after it. */
const STUDY = { connections: 10, seconds: 60, leastSeconds: 4, processes: 5 };

export const WARM = defineCommand({
  name: 'warm',
  about:
    'Studies how long fresh servers take to warm up. Each process is loaded in short turns with a warm reference on the same core, so that the speed of the machine cancels out in the ratio of the two. Prints how long each target takes, and how much faster it becomes.',
  arguments: {
    terms: '<target...>',
    noun: 'target',
    help: 'stack[/variant][@runtime], globs allowed: fastify, "fastapi/*", fastapi@3.14+jit',
    example: 'pnpm warm fastify',
  },
  options: {
    workload: option('<name>', oneOf(WORKLOAD_NAMES), {
      help: WORKLOAD_NAMES.join(', '),
      default: 'devices',
    }),
    param: repeated('<name=n>', pair, { help: 'a parameter of the workload' }),
    connections: option('<n>', wholeNumber(), {
      help: 'connections to each of the two servers',
      default: STUDY.connections,
    }),
    for: option('<time>', span(STUDY.leastSeconds), {
      help: 'how long each process is observed',
      usually: `${STUDY.seconds}s`,
    }),
    processes: option('<n>', wholeNumber(), {
      help: 'fresh processes of each target. Up to half as many more replace those that the machine disturbed',
      default: STUDY.processes,
    }),
    fresh: flag({ help: 'as in pnpm bench' }),
    python: option('<list>', listOf(text), {
      help: 'the same targets on several Pythons, e.g. 3.14,3.14+jit',
    }),
    node: option('<list>', listOf(text), {
      help: 'the same targets on several JavaScript runtimes, e.g. 22,26,bun',
    }),
    with: repeated('<package>', text, { help: 'a version instead of the locked one, as in pnpm bench' }),
    resolve: flag({ help: 'as in pnpm bench' }),
    stack: repeated('<file>', text, { help: 'a stack.json from outside the repository' }),
    upstream: option('<kind>', oneOf(UPSTREAMS), {
      help: 'the server that gather fetches from: nginx or embedded',
      usually: 'nginx if it is on PATH',
    }),
    workers: option('<n>', wholeNumber(), { help: 'workers of each server', default: 1 }),
    threads: option('<n>', wholeNumber(), { help: 'threads of each worker', usually: 'set by the stack' }),
    cores: option('<n>', wholeNumber(), {
      help: 'cores that a server can use',
      usually: 'as many as workers',
    }),
    seed: option('<n>', wholeNumber(0), {
      help: 'sets the order of the processes and their random data',
      usually: 'random',
    }),
    json: flag({ help: 'print the study as JSON' }),
    ...WAITS,
  },
  notes: 'Exit codes: 0 done, 1 a process failed, 2 bad usage, 3 a toolchain is missing,\n130 interrupted.',
  read: (values, targets): WarmRequest => ({
    options: benchOptions({
      targets,
      stacks: values.stack,
      matrix: { python: values.python ?? [], node: values.node ?? [], packages: values.with },
      workload: values.workload,
      workers: values.workers,
      resolve: values.resolve,
      fresh: values.fresh,
      connections: [values.connections],
      rounds: values.processes,
      duel: false,
      ...present({
        params: values.param.length === 0 ? undefined : Object.fromEntries(values.param),
        threads: values.threads,
        cores: values.cores,
        upstream: values.upstream,
        seed: values.seed,
      }),
    }),
    seconds: values.for ?? STUDY.seconds,
    json: values.json,
    wait: values.wait,
  }),
});

/** Every command, by the name of its script. */
export const COMMANDS = {
  bench: BENCH,
  build: BUILD,
  calibrate: CALIBRATE,
  check: CHECK,
  ci: CI,
  clean: CLEAN,
  cluster: CLUSTER,
  compare: COMPARE,
  init: INIT,
  new: NEW,
  power: POWER,
  preflight: PREFLIGHT,
  report: REPORT,
  self: SELF,
  serve: SERVE,
  stacks: STACKS,
  warm: WARM,
} satisfies Record<string, Command<unknown>>;
