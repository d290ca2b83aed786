/** The kind of an error; it determines the exit code (README, "Commands"). */
export type ErrorCode = 'trial' | 'usage' | 'toolchain' | 'interrupted';

const EXIT_CODES: Record<ErrorCode, number> = { trial: 1, usage: 2, toolchain: 3, interrupted: 130 };

/** The one error for users: `message` says what is wrong and where, `hint` what to type or change. */
export class BenchError extends Error {
  readonly code: ErrorCode;
  readonly hint: string | undefined;

  constructor(code: ErrorCode, message: string, hint?: string) {
    super(message);
    this.name = 'BenchError';
    this.code = code;
    this.hint = hint;
  }

  /** The exit code of the process for this error. */
  get exitCode(): number {
    return EXIT_CODES[this.code];
  }
}

/** The user asked for something that cannot be. */
export class UsageError extends BenchError {
  constructor(message: string, hint?: string) {
    super('usage', message, hint);
  }
}

/** A condition, what a user is told if it applies, and what to type instead. */
export type Refusal = [applies: boolean, what: string, cure: string];

/** Throws a usage error for the first refusal that applies. `subject` begins its message. */
export function refuseFirst(refusals: readonly Refusal[], subject = ''): void {
  const [, what, cure] = refusals.find(([applies]) => applies) ?? [];
  if (what !== undefined) throw new UsageError(`${subject}${what}`, cure);
}

/** A program is missing that the user asked for. */
export class ToolchainError extends BenchError {
  constructor(message: string, hint?: string) {
    super('toolchain', message, hint);
  }
}

/** A trial failed. */
export class TrialError extends BenchError {
  constructor(message: string, hint?: string) {
    super('trial', message, hint);
  }
}

const IS_FULL = new Set(['ENOSPC', 'EDQUOT', 'EFBIG']);

/** The causes of failed system calls that are settings or limits of the machine, each with its cure. */
const OF_MACHINE: Record<string, string> = {
  EACCES: 'allow it to the user who runs Bench',
  EPERM: 'allow it to the user who runs Bench',
  EROFS: 'make the file system writable, or name another folder',
  EMFILE: 'raise the limit of open files: ulimit -n 65536',
  ENFILE: 'close other programs: the machine has no more open files',
  ENOMEM: 'free some memory',
  EAGAIN: 'end other programs: the machine starts no more processes',
};

/** Returns the cure for a disk that is full; undefined for any other error. */
export function cureForFull({ code = '' }: Pick<NodeJS.ErrnoException, 'code'>): string | undefined {
  return IS_FULL.has(code) ? 'free some disk space; what was stored before is kept' : undefined;
}

/** Returns an error as one for users: itself, or a limit of the machine that a system call met; undefined for a bug in Bench. */
export function toBenchError(error: unknown): BenchError | undefined {
  if (error instanceof BenchError) return error;
  const { code = '', syscall, message }: NodeJS.ErrnoException = error instanceof Error ? error : new Error();
  const cure = syscall === undefined ? undefined : (cureForFull({ code }) ?? OF_MACHINE[code]);
  return cure === undefined ? undefined : new UsageError(message, cure);
}

/** Returns what a function returns; undefined if it throws. */
export function orUndefined<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
