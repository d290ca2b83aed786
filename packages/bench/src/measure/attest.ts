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
  for (const [worker, one] of told.entries()) {
    for (const [property, wanted] of claims) {
      if (one[property] === wanted) continue;
      const which = workers > 1 ? `worker ${worker + 1} of ${workers}: ` : '';
      const stated = Object.hasOwn(prepared?.variant.attest ?? {}, property)
        ? 'the manifest'
        : `@${prepared?.target.runtime && nameOfRuntime(prepared.target.runtime)}`;
      const modules = property === 'gil' ? modulesThatTookGil(server.log()) : [];
      const cause = modules.length > 0 ? ` (switched on by ${modules.join(', ')})` : '';
      throw new TrialError(
        `false attestation: ${which}${property} is ${JSON.stringify(one[property])}${cause}, but ${stated} states ${JSON.stringify(wanted)}`,
      );
    }
  }
  return told;
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
