import { TrialError } from 'bench-model/errors';

/** Waits for a response of a host or a program. Throws a trial error that names it after this many seconds. */
export async function inTime<T>(answer: Promise<T>, seconds: number, name: string): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    reject(new TrialError(`${name} did not respond for ${Math.round(seconds)} s`));
  }, seconds * 1000);
  // After an interrupt, nobody waits for the response.
  timer.unref();
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
}
