import pWaitFor from 'p-wait-for';
import { TrialError } from 'bench-model/errors';
import { nameOfRuntime } from 'bench-model/planned';
import type { Attestation } from 'bench-model/target';
import { countWorkers, type Server } from 'bench-machine/launch';
import type { Prepared } from 'bench-targets/prepare/prepare';

const ATTEST_SECONDS = 5;
const POLL_MS = 20;

/**
 * Waits for the attestation of every worker and returns them. Throws a trial error if one is missing, or if it
 * contradicts the manifest or the requested runtime.
 */
export async function attest(
  server: Pick<Server, 'attestations' | 'log'>,
  prepared: Pick<Prepared, 'claims' | 'variant' | 'target'> | undefined,
  workers: number,
): Promise<Attestation[]> {
  const claims = Object.entries(prepared?.claims ?? {});
  const isComplete = (): boolean => countWorkers(server.attestations()) >= workers;
  const timeout = { milliseconds: ATTEST_SECONDS * 1000, fallback: () => {} };
  if (claims.length > 0) await pWaitFor(isComplete, { interval: POLL_MS, timeout });
  const told = server.attestations();
  const count = countWorkers(told);
  if (claims.length > 0 && count < workers) {
    throw new TrialError(
      `${count} of ${workers} workers attested themselves (no bench-attest line in the log)`,
    );
  }
  const stater = (property: string): string =>
    Object.hasOwn(prepared?.variant.attest ?? {}, property)
      ? 'the manifest'
      : `@${prepared?.target.runtime && nameOfRuntime(prepared.target.runtime)}`;
  const gilBy = modulesThatTookGil(server.log()).join(', ');
  for (const [worker, one] of told.entries())
    refuseFalse({ gilBy, ...one }, claims, stater, workers > 1 ? `worker ${worker + 1} of ${workers}: ` : '');
  return told;
}

/** Throws a trial error for an attestation that is not as claimed. `stater` names what states a property. */
export function refuseFalse(
  one: Attestation,
  claims: [property: string, wanted: unknown][],
  stater: (property: string) => string,
  which = '',
): void {
  for (const [property, wanted] of claims) {
    if (one[property] === wanted) continue;
    const cause = property === 'gil' && one['gilBy'] ? ` (switched on by ${one['gilBy']})` : '';
    throw new TrialError(
      `false attestation: ${which}${property} is ${JSON.stringify(one[property])}${cause}, but ${stater(property)} states ${JSON.stringify(wanted)}`,
    );
  }
}

/**
 * The extension modules that made a free-threaded CPython switch the GIL on, by its warnings in a log; each once. A
 * process warns only about the first such module.
 */
export function modulesThatTookGil(log: string): string[] {
  const warnings = log.matchAll(
    /RuntimeWarning: The global interpreter lock \(GIL\) has been enabled to load module '([^']+)'/g,
  );
  return [...new Set([...warnings].map(([, name = '']) => name))];
}
