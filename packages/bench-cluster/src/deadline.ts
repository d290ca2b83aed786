import { BenchError } from 'bench-model/errors';

/** Waits for an answer of a host. Throws a trial error that names it after this many seconds. */
export async function inTime<T>(answer: Promise<T>, seconds: number, host: string): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    reject(new BenchError('trial', `${host} did not answer for ${Math.round(seconds)} s`));
  }, seconds * 1000);
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
}
