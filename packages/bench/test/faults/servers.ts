/** The faults of servers, each planted at one phase of a trial. */
import type { ReasonCode } from 'bench-model/reasons';
import type { TimeReport } from 'bench-model/record';

/** The phases of a trial and of its run at which something can fail. */
export type Phase =
  | 'prepare'
  | 'start'
  | 'attest'
  | 'verify'
  | 'connect'
  | 'warm-up'
  | 'window'
  | 'verify after'
  | 'stop'
  | 'record'
  | 'report';

/** The parts of a trial that its record keeps: all figures, those of a failed load, or none. */
type Kept = 'measured' | 'partial' | 'nothing';

/** One server with one fault, and what its trial must say. */
export interface ServerCase {
  phase: Phase;
  /** The load, if it is not that of its phase. */
  load?: string[];
  /** The name of the fault in `planted/unruly/server.mjs`. */
  fault: string;
  /** The reasons that its trial must have. What is measured has no others but those that a busy machine adds. */
  reasons: ReasonCode[];
  says?: RegExp;
  keeps: Kept;
  /** How it ended, as time(1) tells. */
  ended?: Pick<TimeReport, 'exitStatus' | 'terminatedBySignal'>;
  logs?: RegExp;
  /** Set if the server is waited for until the deadline of its start. */
  isLate?: true;
  /** Set if another program answers rightly on its port. */
  hasStranger?: true;
}

/**
 * The connection, and its request, with which the fault of a phase begins. One connection is for the first correct response, two
 * for the verification, two for the load, and the next ones for the verification after it. A server that waits counts requests
 * from the opening of the window on: without a correct response in it, the trial has other reasons.
 */
export const FROM: Partial<Record<Phase, [connection: number, request: number, waits?: 'waits']>> = {
  start: [1, 1],
  verify: [2, 1],
  connect: [4, 1],
  'warm-up': [4, 5],
  window: [4, 5, 'waits'],
  'verify after': [6, 1],
};

/** The load of a trial, a little longer than its `--timeout`, and that of a phase that needs another one. */
export const LOAD = ['--duration', '1.2'];
export const LOADS: Partial<Record<Phase, string[]>> = { 'warm-up': ['--warmup', '5', ...LOAD] };

const failed = (phase: Phase, fault: string, says: RegExp): ServerCase => ({
  phase,
  fault,
  reasons: ['trial'],
  says,
  keeps: 'nothing',
});

/** A server that is waited for to the end. */
const late = (fault: string, says: RegExp): ServerCase => ({ ...failed('start', fault, says), isLate: true });

/** A fault under load that the verification after it finds, too. */
const spoiled = (phase: Phase, fault: string, says: RegExp, ...others: ReasonCode[]): ServerCase => ({
  ...failed(phase, fault, says),
  reasons: ['trial', ...others],
  keeps: 'partial',
});

const sound = (phase: Phase, fault: string, more: Partial<ServerCase> = {}): ServerCase => ({
  phase,
  fault,
  reasons: [],
  keeps: 'measured',
  ...more,
});

const ENDLESS = /the response did not end (within [\d.]+ s|after 256 MiB)/;
const SILENT = /it accepts connections, but does not respond$/;

export const SERVER_CASES: ServerCase[] = [
  sound('window', 'none', { ended: { terminatedBySignal: 15 } }),
  {
    ...failed('start', 'exits with 1 at its start', /\(exit status 1: Error: Cannot find module 'orm'\)$/),
    logs: /Cannot find module/,
  },
  late('never listens', /no correct response within 5 s: nothing listens on port \d+$/),
  failed('start', 'forks away', /its process \d+ \(.+\) still runs: it must stay in the foreground/),
  late('listens on another port', /it listens on port \d+, not on \d+$/),
  failed('start', 'listens on IPv6 alone', /it listens on \[::1\]:\d+, not on 127/),
  failed('start', 'is killed by SIGKILL', /ended before it responded \(ended by signal 9\)$/),
  late('says nothing', SILENT),
  late('sends a body without an end', ENDLESS),
  failed('start', 'speaks no HTTP', /Expected HTTP/),
  failed('start', 'redirects in a circle', /status 302 to \/api\/devices instead of 200$/),
  late('closes the connection', /it closes the connection without a response$/),

  {
    ...failed(
      'attest',
      'never listens',
      /^port \d+ is served by process \d+ \(.*\), which ran before the server/,
    ),
    hasStranger: true,
  },
  sound('attest', 'attests garbage'),
  // oxlint-disable-next-line no-control-regex -- the log must not have it
  sound('attest', 'prints codes', { logs: /^[^\u001B]*$/ }),
  sound('attest', 'floods its log', { logs: /^x+$/ }),
  sound('attest', 'prints one line without an end', { logs: /bytes were left out here/ }),

  failed('verify', 'exits with 0', /before the load: the server ended \(exit status 0\)$/),
  failed('verify', 'says nothing', /before the load: no response in 8 s$/),
  failed('verify', 'answers with an error', /before the load: status 500 instead of 200: {"error":"no"}$/),
  failed('verify', 'answers with a wrong body', /before the load: the body is not JSON/),
  failed('verify', 'closes in the middle of the body', /before the load: /),

  spoiled('connect', 'says nothing', /after the load: no response/, 'no-answers'),
  spoiled('connect', 'resets the connection', /after the load: /, 'no-answers', 'errors'),

  failed('warm-up', 'is killed by SIGKILL', /the server died under load \(ended by signal 9\)$/),

  {
    ...failed('window', 'is killed by SIGSEGV', /the server died under load \(ended by signal 11\)$/),
    // The trial ends with its server.
    load: ['--duration', '20'],
  },
  {
    ...failed(
      'window',
      'runs out of memory',
      /died under load \(ended by signal 6: FATAL ERROR: .*heap out of memory\)$/,
    ),
    load: ['--duration', '20'],
  },
  spoiled('window', 'is stopped by SIGSTOP', /after the load: no response/, 'unanswered'),
  spoiled('window', 'stops listening', /after the load: nothing listens on port \d+$/),
  spoiled('window', 'announces a longer body', ENDLESS, 'unanswered'),
  spoiled('window', 'sends chunks of garbage', /Invalid character/, 'wrong-answers'),
  {
    ...sound('window', 'answers twice'),
    reasons: ['wrong-answers'],
    keeps: 'partial',
    says: /arrived without a request/,
  },
  spoiled('window', 'answers with an error', /status 500/, 'errors'),
  spoiled('window', 'answers with a wrong body', /the body is not JSON/, 'wrong-answers'),
  spoiled('window', 'closes in the middle of the body', /after the load: /, 'errors'),

  spoiled('verify after', 'exits with 0', /after the load: the server ended \(exit status 0\)$/),

  {
    ...sound('stop', 'ignores SIGTERM'),
    reasons: ['ignored-sigterm'],
    says: /ignored SIGTERM for 5 s and was killed/,
    ended: { terminatedBySignal: 9 },
  },
  sound('stop', 'crashes at SIGTERM', { ended: { terminatedBySignal: 11 } }),
  sound('stop', 'leaves children behind'),
];
