import { parseArgs } from 'node:util';

/**
 * The options by their names on the command line, with their defaults. 0 and '' switch a fault off.
 * The request numbers of faults count from 1, after the `--sound-first` requests.
 */
const DEFAULTS = {
  host: '127.0.0.1',
  port: 8080,
  /** The port of the account; 0 selects a free port, which the attestation contains. */
  'account-port': 0,
  /** JSON merged into the attestation line. */
  'attest-as': '{}',
  /** A second worker attests that CPython enabled the GIL to load this module. */
  'gil-taken-by': '',
  /** This many requests are answered correctly and immediately before the faults begin. */
  'sound-first': 0,

  // Time
  'delay-ms': 0,
  /** Delays differ from `--delay-ms` by up to this many ms, evenly spread, in whole ms. */
  'delay-spread-ms': 0,
  'stall-at': 0,
  'stall-ms': 1000,
  /** The stall delays all answers by timers; without this option the event loop spins. */
  'stall-quietly': false,
  /** All answers stall quietly for the first `--stall-ms` of every this many ms of the process, from request 1 on. */
  'stall-every': 0,
  'burn-us': 0,
  /** Each answer leaves work of this many µs for this many ms later. */
  'later-us': 0,
  'later-ms': 50,
  /** Where that is done: `thread`, `child`, or by default in the event loop. */
  'later-in': '',
  /** The process burns this share of a core in any case, in %, ten times a second. */
  'upkeep-percent': 0,

  // Answers
  'status-500-every': 0,
  'wrong-body-every': 0,
  'wrong-length-every': 0,
  'answer-wrong-after': 0,
  'unanswered-every': 0,
  http10: false,
  /** Each answer with a multiple of this number is sent twice: immediately, or this many ms later. */
  'duplicate-every': 0,
  'duplicate-after-ms': 0,
  /** An interim response (103) precedes each answer. */
  'early-hints': false,

  // Connections
  'reset-every': 0,
  'close-early-every': 0,
  'close-after-response': false,
  'close-silently': false,
  'accept-and-close': false,
  'serve-only': 0,
  /** This many `GET /held` are answered immediately; later ones get no answer. */
  'held-after': 0,

  // Memory
  /** Each answer, or each reset connection, keeps this many bytes. */
  'keep-bytes': 0,
  'keep-per-reset': 0,
  /** The most that is kept; 0 is no limit. */
  'keep-most-mib': 0,
  /** What is kept is freed when it reaches `--keep-most-mib`; without this option, it stays. */
  collects: false,

  // Life
  'bind-after-ms': 0,
  'never-bind': false,
  'die-after-requests': 0,
  'ignore-sigterm': false,
};

export type Options = typeof DEFAULTS;

/** Parses the options. Throws an Error that names an invalid option and the value that it takes. */
export function readOptions(args: string[]): Options {
  const { values } = parseArgs({
    args,
    options: Object.fromEntries(
      Object.entries(DEFAULTS).map(([name, value]) => [
        name,
        { type: typeof value === 'boolean' ? ('boolean' as const) : ('string' as const) },
      ]),
    ),
  });
  const options = { ...DEFAULTS };
  for (const [name, value] of Object.entries(values)) {
    const number = isOption(name) && typeof DEFAULTS[name] === 'number';
    if (number && !/^\d+(\.\d+)?$/.test(String(value))) {
      throw new Error(`--${name} takes a number, not '${String(value)}'`);
    }
    Object.assign(options, { [name]: number ? Number(value) : value });
  }
  JSON.parse(options['attest-as']);
  return options;
}

/** Returns the options that are not defaults: the planted faults. */
export function plantedFaults(options: Options): Partial<Options> {
  return Object.fromEntries(
    Object.entries(options).filter(([name, value]) => !isOption(name) || value !== DEFAULTS[name]),
  );
}

function isOption(name: string): name is keyof Options {
  return name in DEFAULTS;
}
