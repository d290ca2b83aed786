/** The known warm-ups of this machine: looked up before a run, and stored after a study. */
import { coresOf } from 'bench-model/planned';
import { join } from 'node:path';
import { studyTargets } from 'bench-analysis/warmup/study';
import { openState } from 'bench-machine/state';
import type { PinnedCommands } from 'bench-machine/placement';
import type { Plan } from 'bench-model/plan';
import { planOf } from '../plan/scale.ts';
import { kindOfRung, type KnownWarmup, type RungKind } from '../plan/warmup.ts';
import { isNode } from 'bench-targets/prepare/collect';
import { digestOf } from 'bench-targets/prepare/digest';
import type { Prepared } from 'bench-targets/prepare/prepare';
import type { Host } from 'bench-model/host';
import { readKnown, writeKnown, type WarmupFacts } from '../plan/known-warmups.ts';
import type { StoredStudy } from 'bench-analysis/results/study/store';

/** The machine that a warm-up is known on. */
interface WarmupMachine {
  host: Host;
  placed: Pick<PinnedCommands, 'placement'>;
}

/** The facts that decide whether a warm-up is known, and the target that they describe. */
export interface TargetFacts {
  target: string;
  facts: Record<RungKind, WarmupFacts>;
}

/** The folder of the known warm-ups. */
function knownFolder(): string {
  return join(openState(), 'warmups');
}

/** Returns everything that the warm-up of a target depends on, for each kind of rung. */
export function factsOf(prepared: Prepared, whole: Plan, { host, placed }: WarmupMachine): TargetFacts {
  const { target, variant, digest, runtime, installed, packages = [] } = prepared;
  const plan = planOf(whole, target);
  const { workload, params, userRequests, upstream, workers, threads } = plan;
  const facts = (rungs: RungKind): WarmupFacts => ({
    stack: `${target.stack}/${target.variant}`,
    // As in the manifest: the folder of a checkout or an environment changes nothing.
    command: JSON.stringify([variant.command, variant.env]),
    sources: digest,
    runtime:
      runtime === undefined ? 'binary' : JSON.stringify([runtime.spec, runtime.version, runtime.build]),
    packages: [...installed, ...packages].join(', '),
    workload: JSON.stringify([workload, params ?? {}]),
    // Requests of a user may hold secrets.
    requests: userRequests === undefined ? '' : digestOf([], JSON.stringify(userRequests)),
    upstream: upstream ?? '',
    ...(isNode(prepared) && plan.noInitialGc !== true ? { collected: 'before the load' } : {}),
    rungs,
    workers: JSON.stringify([workers, threads ?? null]),
    cores: JSON.stringify([coresOf(plan), placed.placement.kind, host.cores]),
    cpu: host.cpuModel ?? 'unknown',
  });
  return { target: target.id, facts: { few: facts('few'), many: facts('many') } };
}

/** Looks up the warm-up of a target at rungs of one kind. Without a study there, one at the other kind counts. */
export function findWarmup({ facts }: TargetFacts, kind: RungKind): KnownWarmup | undefined {
  const folder = knownFolder();
  return readKnown(folder, facts[kind]) ?? readKnown(folder, facts[kind === 'few' ? 'many' : 'few']);
}

/** Stores the findings of a study about targets; none for a target without a process that was observed to its end. */
export function keepWarmups(stored: StoredStudy, known: readonly TargetFacts[]): void {
  const { file, processes } = stored;
  const studies = new Map(studyTargets(stored).map(({ id, study }) => [id, study]));
  for (const { target, facts } of known) {
    const study = studies.get(target);
    if (study === undefined) continue;
    writeKnown(knownFolder(), {
      facts: facts[kindOfRung(file.connections)],
      study: file.run,
      studiedAt: processes[0]?.startedAt ?? '',
      seconds: file.seconds,
      processes: study.processes.map(({ studied, warm, levels }) => ({
        observedSeconds: studied.seconds,
        ...(warm === undefined ? {} : { warm: { seconds: warm.seconds, answers: warm.answers } }),
        levels,
      })),
    });
  }
}
