import { parseArgs } from 'node:util';

/**
 * Every option by the name it has on the command line, with its default; 0 and '' mean: no such fault.
 * A fault's request numbers count from 1, after the `--sound-first` ones.
 */
const DEFAULTS = {
  host: '127.0.0.1',
  port: 8080,
  /** Where the account is read; 0 picks a free port, printed in the attestation line. */
  'account-port': 0,
  /** JSON merged into the attestation line. */
  'attest-as': '{}',
  /** A second worker attests too, for which CPython switched the GIL on to load this module. */
  'gil-taken-by': '',
  /** So many requests are answered at once and rightly before any fault begins: readiness, verification. */
  'sound-first': 0,

  // Time
  'delay-ms': 0,
  /** Delays lie this far around `--delay-ms` at the most, evenly and in whole ms. */
  'delay-spread-ms': 0,
  'stall-at': 0,
  'stall-ms': 1000,
  /** The stall holds all answers by timers; without it the event loop spins. */
  'stall-quietly': false,
  'burn-us': 0,
  /** Request n burns n times this much more. */
  'slowdown-ns': 0,
  /** Extra burn of the first request, falling in a straight line to none at request `--warm-up-requests`. */
  'warm-up-us': 500,
  'warm-up-requests': 0,

  // Answers
  'status-500-every': 0,
  'wrong-body-every': 0,
  'wrong-length-every': 0,
  'answer-wrong-after': 0,
  http10: false,
  /** Every so many answers come twice; the second at once, or so many ms later. */
  'duplicate-every': 0,
  'duplicate-after-ms': 0,
  /** Each answer follows an interim one (103). */
  'early-hints': false,

  // Connections
  'reset-every': 0,
  'close-early-every': 0,
  'close-after-response': false,
  'close-silently': false,
  'accept-and-close': false,
  'serve-only': 0,
  /** `GET /held` is answered at once so many times; whoever asks then waits for ever. */
  'held-after': 0,

  // Life
  'allocate-mib': 0,
  'allocate-at': 1,
  'bind-after-ms': 0,
  'never-bind': false,
  'die-after-requests': 0,
  'die-signal': '',
  'ignore-sigterm': false,
};

export type Options = typeof DEFAULTS;

/** The options of an argument vector; throws an Error that names the option and what it takes. */
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

/** What was told on the command line and is not the default: the planted faults. */
export function plantedFaults(options: Options): Partial<Options> {
  return Object.fromEntries(
    Object.entries(options).filter(([name, value]) => !isOption(name) || value !== DEFAULTS[name]),
  );
}

function isOption(name: string): name is keyof Options {
  return name in DEFAULTS;
}
