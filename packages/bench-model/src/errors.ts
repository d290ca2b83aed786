/** The kind of an error; it determines the exit code (README, "Commands"). */
export type ErrorCode = 'trial' | 'usage' | 'toolchain' | 'interrupted';

const EXIT_CODES: Record<ErrorCode, number> = { trial: 1, usage: 2, toolchain: 3, interrupted: 130 };

/**
 * The one error for users: `message` says what is wrong and where (file:line), `hint` says what to type or change.
 */
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
