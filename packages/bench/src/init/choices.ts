import type { Stack } from 'bench-model/stack';

/** What a user asks of `init`, for the server and its requests. */
export interface InitChoices {
  get: string[];
  header: (readonly [string, string])[];
  with: string[];
  lock?: string | undefined;
  envFile?: string | undefined;
  python?: string | undefined;
  node?: string | undefined;
  /** True to take the first possibility instead of asking. */
  yes: boolean;
}

/** What a user names for the runtime of a server: a version, or the path of an interpreter. */
export function runtimeNamed(
  choices: InitChoices,
  runtime: Stack['runtime'],
): { version?: string; path?: string } {
  const named = runtime === 'none' ? undefined : choices[runtime];
  if (named === undefined) return {};
  return named.includes('/') ? { path: named } : { version: named };
}
