/** The fields of a report of `/usr/bin/time`: their meanings, and their labels in each format. */

/**
 * The processes that a field covers.
 * - `command`: from the start of the command to its end
 * - `tree`: the command and all its descendants that were waited for, added up
 * - `largest process`: the largest single process of that tree, not the sum
 * - `direct child`: the command itself, without its descendants
 */
export type TimeScope = 'command' | 'tree' | 'largest process' | 'direct child';

/** The meaning of a field of a report, and its label in each format; undefined if the platform does not keep it. */
export interface TimeFieldHead {
  label: string;
  unit: 's' | 'bytes' | 'count';
  scope: TimeScope;
  gnu: string | undefined;
  bsd: string;
}

function field(
  unit: TimeFieldHead['unit'],
  scope: TimeScope,
  label: string,
  bsd: string,
  gnu?: string,
): TimeFieldHead {
  return { label, unit, scope, gnu, bsd };
}

function counted(label: string, bsd = label, gnu?: string): TimeFieldHead {
  return field('count', 'tree', label, bsd, gnu);
}

/**
 * Every field in the order of a table. GNU's messages, signals and swaps are not read: the kernel never fills them in, so
 * their 0 means nothing.
 */
export const TIME_FIELDS = {
  elapsedSeconds: field('s', 'command', 'elapsed', 'real', 'Elapsed (wall clock) time (h:mm:ss or m:ss)'),
  userSeconds: field('s', 'tree', 'user CPU', 'user', 'User time (seconds)'),
  systemSeconds: field('s', 'tree', 'system CPU', 'sys', 'System time (seconds)'),
  maxResidentBytes: field(
    'bytes',
    'largest process',
    'max resident set',
    'maximum resident set size',
    'Maximum resident set size (kbytes)',
  ),
  peakFootprintBytes: field('bytes', 'direct child', 'peak footprint', 'peak memory footprint'),
  minorFaults: counted('minor page faults', 'page reclaims', 'Minor (reclaiming a frame) page faults'),
  majorFaults: counted('major page faults', 'page faults', 'Major (requiring I/O) page faults'),
  voluntarySwitches: counted(
    'voluntary switches',
    'voluntary context switches',
    'Voluntary context switches',
  ),
  involuntarySwitches: counted(
    'involuntary switches',
    'involuntary context switches',
    'Involuntary context switches',
  ),
  fileInputs: counted('file system inputs', 'block input operations', 'File system inputs'),
  fileOutputs: counted('file system outputs', 'block output operations', 'File system outputs'),
  messagesSent: counted('messages sent'),
  messagesReceived: counted('messages received'),
  signalsReceived: counted('signals received'),
  instructions: field('count', 'direct child', 'instructions', 'instructions retired'),
  cycles: field('count', 'direct child', 'cycles', 'cycles elapsed'),
};

/** The fields about the resources that a command used. */
export type TimeField = keyof typeof TIME_FIELDS;

/** The names of all fields, in the order of a table. */
export const TIME_FIELD_NAMES = Object.keys(TIME_FIELDS) as readonly TimeField[];
