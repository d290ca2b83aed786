import { parseArgs, type ParseArgsConfig } from 'node:util';
import { parseBackground } from './catalogue/background.ts';
import { splitList } from './catalogue/runtimes.ts';
import { completeCrossCheck, parseCrossCheck, parseEngine, type EngineName } from './catalogue/engines.ts';
import type { Matrix } from './catalogue/stacks.ts';
import { nearest } from './nearest.ts';
import { parseParams } from './catalogue/workloads/index.ts';
import { BenchError } from './errors.ts';
import { METRIC_IDS, UPSTREAMS, type BackgroundRequest, type MetricId, type UpstreamKind } from './model.ts';
import { parseSecrets, type Secrets } from './secrets.ts';

type Flags = NonNullable<ParseArgsConfig['options']>;

const FLAGS = {
  aa: { type: 'boolean' },
  again: { type: 'string' },
  all: { type: 'boolean' },
  amount: { type: 'string' },
  background: { type: 'string' },
  body: { type: 'string' },
  budget: { type: 'string' },
  by: { type: 'string' },
  connections: { type: 'string' },
  'cross-check': { type: 'string' },
  'connect-rate': { type: 'string' },
  cores: { type: 'string' },
  detail: { type: 'boolean' },
  'dry-run': { type: 'boolean' },
  duel: { type: 'boolean' },
  duration: { type: 'string' },
  engine: { type: 'string' },
  expect: { type: 'string' },
  generators: { type: 'string' },
  header: { type: 'string', multiple: true },
  help: { type: 'boolean', short: 'h' },
  json: { type: 'boolean' },
  looks: { type: 'string' },
  node: { type: 'string' },
  method: { type: 'string' },
  param: { type: 'string', multiple: true },
  pid: { type: 'string' },
  'prove-limit': { type: 'boolean' },
  python: { type: 'string' },
  quick: { type: 'boolean' },
  rate: { type: 'string' },
  resume: { type: 'string' },
  rounds: { type: 'string' },
  seed: { type: 'string' },
  separate: { type: 'boolean' },
  stack: { type: 'string', multiple: true },
  threads: { type: 'string' },
  threshold: { type: 'string' },
  timeout: { type: 'string' },
  'until-decided': { type: 'boolean' },
  upstream: { type: 'string' },
  url: { type: 'string' },
  warmup: { type: 'string' },
  with: { type: 'string', multiple: true },
  workers: { type: 'string' },
  workload: { type: 'string' },
} as const satisfies Flags;

/** Connects per second, at which servers on one core kept up with accepting. */
export const DEFAULT_CONNECT_RATE = 2000;

/** When a run that is to be decided may stop; fixed before its first round. */
export interface Sitting {
  /** The numbers of rounds at which one looks: the name of a schedule. */
  looks: string;
  by: MetricId;
  /** The difference that matters, as a share. */
  threshold: number;
  /** After so long it stops undecided, in seconds. */
  budgetSeconds?: number;
}

/** What `pnpm bench` was asked to do; absent fields take the workload's defaults. */
export interface BenchOptions {
  targets: string[];
  all: boolean;
  stacks: string[];
  matrix: Matrix;
  workload: string;
  /** Parameters of the workload, by name. */
  params?: Record<string, number>;
  /** Nginx where it is there, unless told. */
  upstream?: UpstreamKind;
  connections?: number[];
  rounds?: number;
  windowSeconds?: number;
  warmupSeconds?: number;
  timeoutSeconds?: number;
  amount?: number;
  /** Every target is measured once more with this request in flight beside the load. */
  background?: BackgroundRequest;
  /** `auto`: half of the slowest target's goodput, measured first. */
  rate?: number | 'auto';
  /** Two servers at once or one after the other; left to the plan unless told. */
  duel?: boolean;
  /** Whether CPU can be read finely enough for a duel here: it is then the usual way to decide between two. */
  mayDuel: boolean;
  /** The first target once more, as a noise floor. */
  aa: boolean;
  sitting?: Sitting;
  workers: number;
  /** Of each worker; how many is the stack's own affair unless told. */
  threads?: number;
  /** What a server may use; as many as workers unless told. */
  cores?: number;
  generators: number;
  /** What sends the load, autocannon unless told. */
  engine?: EngineName;
  /** A second engine for every target, to check the first by; `any`: the first that is here. */
  crossCheck?: EngineName | 'any';
  connectsPerSecond: number;
  seed?: number;
  quick: boolean;
  proveLimit: boolean;
  dryRun: boolean;
  resume?: string;
  /** A stored run whose plan is measured once more. */
  again?: string;
  /** What the stored run did not keep, given again beside `resume` or `again`. */
  secrets?: Secrets;
  json: boolean;
  detail: boolean;
  help: boolean;
  url?: UrlOptions;
}

/** A server that is already running, and what to ask of it. */
export interface UrlOptions {
  url: URL;
  method: string;
  headers: Record<string, string>;
  /** The text itself, or `@file`. */
  body?: string;
  expect?: string;
  pid?: number;
}

/** Reads the command line of `pnpm bench`. Throws a usage error for whatever it cannot mean. */
export function parseBenchOptions(args: string[]): BenchOptions {
  const { values, positionals } = parse(completeCrossCheck(args), FLAGS);
  const options: BenchOptions = {
    targets: positionals,
    all: values.all ?? false,
    stacks: values.stack ?? [],
    matrix: {
      python: splitList(values.python ?? ''),
      node: splitList(values.node ?? ''),
      packages: values.with ?? [],
    },
    workload: values.workload ?? 'devices',
    workers: wholeNumber('workers', values.workers) ?? 1,
    generators: wholeNumber('generators', values.generators) ?? 1,
    connectsPerSecond: wholeNumber('connect-rate', values['connect-rate']) ?? DEFAULT_CONNECT_RATE,
    aa: values.aa ?? false,
    mayDuel: false,
    quick: values.quick ?? false,
    proveLimit: values['prove-limit'] ?? false,
    dryRun: values['dry-run'] ?? false,
    json: values.json ?? false,
    detail: values.detail ?? false,
    help: values.help ?? false,
    ...present({
      connections: values.connections?.split(',').map((text) => wholeNumber('connections', text) as number),
      rounds: wholeNumber('rounds', values.rounds),
      windowSeconds: seconds('duration', values.duration),
      warmupSeconds: seconds('warmup', values.warmup, 0),
      timeoutSeconds: seconds('timeout', values.timeout),
      amount: wholeNumber('amount', values.amount),
      background: parseBackground(values.background),
      rate: values.rate === 'auto' ? 'auto' : wholeNumber('rate', values.rate),
      duel: values.separate === true ? false : values.duel,
      sitting: parseSitting(values),
      engine: parseEngine('engine', values.engine),
      crossCheck: parseCrossCheck(values['cross-check']),
      seed: wholeNumber('seed', values.seed, 0),
      params: parseParams(values.param),
      threads: wholeNumber('threads', values.threads),
      cores: wholeNumber('cores', values.cores),
      upstream: values.upstream === undefined ? undefined : oneOf('upstream', values.upstream, UPSTREAMS),
      resume: values.resume,
      again: values.again,
      ...((values.resume ?? values.again) === undefined
        ? { url: parseUrl(values) }
        : { secrets: parseSecrets(values) }),
    }),
  };
  refuseBeside('resume', options.resume, values, positionals);
  refuseBeside('again', options.again, values, positionals);
  if (values.duel === true && values.separate === true)
    throw new BenchError('usage', '--duel and --separate exclude each other', 'leave one away');
  if (options.sitting !== undefined && options.rounds !== undefined) {
    throw new BenchError(
      'usage',
      '--until-decided has rounds of its own: it takes no --rounds',
      '--looks names another schedule',
    );
  }
  if (options.rate !== undefined && options.amount !== undefined) {
    throw new BenchError('usage', '--rate and --amount exclude each other', 'a rate runs for --duration');
  }
  if (options.url !== undefined && (positionals.length > 0 || options.stacks.length > 0 || options.all)) {
    throw new BenchError(
      'usage',
      '--url measures one server that is already running: it takes no targets',
      'leave the targets away, or --url',
    );
  }
  return options;
}

/** What may stand beside the name of a stored run: it changes nothing of the plan. */
const BESIDE_STORED = ['json', 'detail', 'dry-run', 'help', 'header', 'url'];

function refuseBeside(
  flag: 'resume' | 'again',
  run: string | undefined,
  values: object,
  positionals: string[],
): void {
  const [stray] = [
    ...Object.keys(values)
      .filter((other) => other !== flag && !BESIDE_STORED.includes(other))
      .map((other) => `--${other}`),
    ...positionals,
  ];
  if (run === undefined || stray === undefined) return;
  throw new BenchError(
    'usage',
    `--${flag} goes by a stored plan: it takes no ${stray}`,
    `pnpm bench --${flag} ${run}`,
  );
}

/** The difference that matters, unless told: 2 %. */
export const DEFAULT_THRESHOLD = 0.02;

/** The schedule of looks, unless told. */
const DEFAULT_LOOKS = '12/18/24';

function parseSitting(values: {
  'until-decided'?: boolean;
  looks?: string;
  budget?: string;
  by?: string;
  threshold?: string;
}): Sitting | undefined {
  if (values['until-decided'] !== true) {
    const stray = (['looks', 'budget', 'by', 'threshold'] as const).find(
      (flag) => values[flag] !== undefined,
    );
    if (stray !== undefined)
      throw new BenchError(
        'usage',
        `--${stray} belongs to --until-decided`,
        'pnpm compare takes --by and --threshold',
      );
    return undefined;
  }
  return {
    looks: values.looks ?? DEFAULT_LOOKS,
    by: oneOf('by', values.by ?? 'cpu', METRIC_IDS),
    threshold: parseShare('threshold', values.threshold) ?? DEFAULT_THRESHOLD,
    ...present({ budgetSeconds: parseSpan('budget', values.budget) }),
  };
}

/** The word of that spelling among those allowed. Throws a usage error that lists them. */
export function oneOf<T extends string>(flag: string, word: string, words: readonly T[]): T {
  const found = words.find((one) => one === word);
  if (found === undefined)
    throw new BenchError('usage', `--${flag} ${word}: there is no such word`, `one of ${words.join(', ')}`);
  return found;
}

/** A share between 0 and 1, written `0.03` or `3%`; undefined for undefined. Throws a usage error for anything else. */
export function parseShare(flag: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const [, number, unit] = /^(\d+(?:\.\d+)?)\s*(%?)$/.exec(text) ?? [];
  const share = Number(number) / (unit === '%' ? 100 : 1);
  if (number === undefined || !(share > 0 && share < 1))
    throw new BenchError('usage', `--${flag} ${text}: not a share`, `e.g. --${flag} 3%`);
  return share;
}

/** Seconds from `90`, `90s`, `10m` or `1h`. */
function parseSpan(flag: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const [, number, unit = 's'] = /^(\d+(?:\.\d+)?)(s|m|h)?$/.exec(text) ?? [];
  const span = Number(number) * { s: 1, m: 60, h: 3600 }[unit as 's' | 'm' | 'h'];
  if (number === undefined || !(span > 0))
    throw new BenchError('usage', `--${flag} ${text}: not a span of time`, `e.g. --${flag} 10m`);
  return span;
}

/** Parses `args` strictly by `flags`. Throws a usage error with the nearest option for one that is not there. */
export function parse<const T extends Flags>(
  args: string[],
  flags: T,
): ReturnType<typeof parseArgs<{ args: string[]; options: T; allowPositionals: true }>> {
  try {
    return parseArgs({ args, options: flags, allowPositionals: true, strict: true });
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const [, dashed] = /Option '(?:-\w, )?--(\S+).*' argument is ambiguous/.exec(message) ?? [];
    if (dashed !== undefined) {
      throw new BenchError(
        'usage',
        `--${dashed} is followed by what looks like another option`,
        `a value that begins with a dash is written --${dashed}=-1`,
      );
    }
    const [, unknown] = /Unknown option '-*([^']+)'/.exec(message) ?? [];
    if (unknown === undefined)
      throw new BenchError('usage', message.split('. ')[0] ?? message, '--help lists the options');
    const close = nearest(unknown, Object.keys(flags)).map((name) => `--${name}`);
    throw new BenchError(
      'usage',
      `there is no option --${unknown}`,
      `did you mean ${close.join(', ')}? --help lists them`,
    );
  }
}

/** A whole number from `least` (1 unless told) on; undefined for undefined. Throws a usage error for anything else. */
export function wholeNumber(flag: string, text: string | undefined, least = 1): number | undefined {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (text.trim() !== '' && Number.isSafeInteger(value) && value >= least) return value;
  throw new BenchError(
    'usage',
    `--${flag} ${text}: not a whole number from ${least} on`,
    `e.g. --${flag} ${Math.max(10, least)}`,
  );
}

function seconds(flag: string, text: string | undefined, least = 0.1): number | undefined {
  if (text === undefined) return undefined;
  const figure = text.replace(/s$/, '').trim();
  const value = Number(figure);
  if (figure !== '' && Number.isFinite(value) && value >= least) return value;
  throw new BenchError(
    'usage',
    `--${flag} ${text}: not a number of seconds from ${least} on`,
    `e.g. --${flag} 5`,
  );
}

function parseUrl(values: {
  url?: string;
  method?: string;
  header?: string[];
  body?: string;
  expect?: string;
  pid?: string;
}): UrlOptions | undefined {
  if (values.url === undefined) {
    const stray = (['method', 'header', 'body', 'expect', 'pid'] as const).find(
      (flag) => values[flag] !== undefined,
    );
    if (stray !== undefined) {
      throw new BenchError('usage', `--${stray} belongs to --url`, 'e.g. --url http://127.0.0.1:3000/orders');
    }
    return undefined;
  }
  const { url = new URL(values.url), headers } = parseSecrets(values);
  return {
    url,
    headers,
    method: (values.method ?? (values.body === undefined ? 'GET' : 'POST')).toUpperCase(),
    ...present({ body: values.body, expect: values.expect, pid: wholeNumber('pid', values.pid) }),
  };
}

/** The fields that are there: what `exactOptionalPropertyTypes` asks for. */
export function present<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never;
}
