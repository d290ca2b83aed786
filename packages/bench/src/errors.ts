/** What went wrong, as the exit code tells it (README, "Exit codes"). */
export type ErrorCode = 'trial' | 'usage' | 'toolchain' | 'interrupted';

const EXIT_CODES: Record<ErrorCode, number> = { trial: 1, usage: 2, toolchain: 3, interrupted: 130 };

/**
 * The one error a user is meant to read: `message` says what was wrong and where (file:line),
 * `hint` what to type or change.
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

  /** The process exit code this error stands for. */
  get exitCode(): number {
    return EXIT_CODES[this.code];
  }
}
