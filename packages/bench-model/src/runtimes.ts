/** Runtimes that differ in how they warm up. */

/** The runtime of a live process; `native` is everything that is compiled before it starts. */
export type LiveRuntime = 'jvm' | 'dotnet' | 'v8' | 'jsc' | 'python' | 'native';

/**
 * The shortest warm-up by runtime, in seconds. Native programs still fill caches and pools. V8 compiles most of a service within a
 * second of load (docs/concepts/warm-up.md).
 */
export const SHORTEST_WARMUP_SECONDS: Record<LiveRuntime, number> = {
  native: 0.5,
  python: 1,
  v8: 2,
  jsc: 2,
  jvm: 5,
  dotnet: 5,
};

/** The usual runtime of a language. */
const OF_LANGUAGES: Record<string, LiveRuntime> = {
  java: 'jvm',
  kotlin: 'jvm',
  scala: 'jvm',
  csharp: 'dotnet',
  fsharp: 'dotnet',
  typescript: 'v8',
  javascript: 'v8',
  python: 'python',
  go: 'native',
  rust: 'native',
  c: 'native',
};

/** Returns the usual runtime of a language, to estimate the time of a run before its servers have started; undefined if that is not known. */
export function usualRuntime(language: string): LiveRuntime | undefined {
  return OF_LANGUAGES[language.toLowerCase()];
}
