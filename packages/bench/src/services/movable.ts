/** Companions whose program can run on another host than the servers. Its host is watched like those that send load. */
import type { CompanionHost, CompanionName } from 'bench-model/companions';
import type { Target } from 'bench-model/target';
import { makeReason } from 'bench-model/reasons';
import type { HostWindow } from 'bench-model/measured';
import type { Reason } from 'bench-model/reasons';
import type {
  Companion,
  CompanionContext,
  CompanionNeeds,
  CompanionProgram,
  CompanionTrial,
  MovableCompanion,
  MovableKind,
  MovableNeeds,
  RunningCompanion,
  TrialCompanion,
  MovableName,
} from './companion.ts';
import { CompanionError } from './companion.ts';
import type { Draw } from 'bench-targets/catalogue/workloads/workload';

/** The other hosts that companions run on. */
export interface CompanionHosts {
  /**
   * Returns the program of a companion on the host with its role: the same for all trials, unless that host is lost. Throws
   * a trial error if there is no such host, or if it cannot run the companion.
   */
  find(name: MovableName, needs: MovableNeeds): Promise<DistantProgram>;
}

/** The program of a companion, found on another host. */
export interface DistantProgram extends CompanionProgram {
  host: CompanionHost;
  /** The numbers of the cores that it may use there. */
  cores: number[];
  /** Says why it is lost; undefined while it can be reached. */
  lost(): string | undefined;
  /** The machine of its host in the last window; undefined if that is this machine, or unknown. */
  machine(): HostWindow | undefined;
}

/** Finds a companion whose program runs beside the servers; undefined if it is not needed. */
export async function findBeside(
  name: CompanionName,
  movable: MovableCompanion,
  needs: CompanionNeeds,
): Promise<Companion | undefined> {
  if (!movable.isNeeded(needs)) return undefined;
  const program = await movable.find(needs);
  return {
    name,
    version: versionOf(program),
    isPlaced: 'launch' in program,
    start: (context) => movable.start(program, needs, context),
  };
}

function versionOf({ kind, version }: Pick<CompanionProgram, 'kind' | 'version'>): string {
  return `${kind} ${version}`;
}

/** Finds a companion whose program runs on another host. Throws a usage or trial error if that is not possible. */
export async function findElsewhere(
  { name, movable }: MovableKind,
  needs: CompanionNeeds,
  hosts: CompanionHosts,
): Promise<Companion> {
  movable.refuseElsewhere?.();
  const version = versionOf(await hosts.find(name as MovableName, needs));
  return {
    name,
    version,
    isPlaced: false,
    async start(context) {
      const companion = new DistantCompanion({ name, version, movable, needs, hosts, context });
      await companion.start();
      return companion;
    },
  };
}

/** The parts of a companion on another host. */
interface Parts extends Pick<MovableKind, 'name' | 'movable'> {
  /** The version of its program, which stays the same for all trials. */
  version: string;
  needs: CompanionNeeds;
  hosts: CompanionHosts;
  context: CompanionContext;
}

/** A companion with the program that it has started. */
interface Running {
  program: DistantProgram;
  companion: RunningCompanion;
}

/** A companion whose program runs on another host. It is started again on a new host if the host before was lost. */
class DistantCompanion implements RunningCompanion {
  readonly name: CompanionName;
  readonly #parts: Parts;
  #running: Running | undefined;
  /** The program that started last; its host may be lost. */
  #latest: Running | undefined;

  constructor(parts: Parts) {
    this.name = parts.name;
    this.#parts = parts;
  }

  /** Starts it on the host that has its role now, unless it runs there. Throws if it does not start. */
  async start(): Promise<Running> {
    const { name, version, movable, needs, hosts, context } = this.#parts;
    const program = await hosts.find(name as MovableName, needs);
    if (this.#running?.program === program) return this.#running;
    const found = versionOf(program);
    if (found !== version)
      throw new CompanionError(
        `the ${name} on ${program.host.name} is ${found}, and the one before ${version}`,
      );
    await this[Symbol.asyncDispose]();
    this.#latest = this.#running = { program, companion: await movable.start(program, needs, context) };
    return this.#running;
  }

  head(target: Target): unknown {
    if (this.#latest === undefined) return undefined;
    const { program, companion } = this.#latest;
    return { ...(companion.head(target) as object), host: program.host };
  }

  async begin(draw: Draw, trial: CompanionTrial): Promise<TrialCompanion> {
    const { program, companion } = await this.start();
    const begun = companion.begin(draw, trial).catch((error: unknown) => blame(program, error));
    return watchHost(await begun, this.name, program);
  }

  interrupt(): void {
    this.#running?.companion.interrupt?.();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const running = this.#running;
    this.#running = undefined;
    await running?.companion[Symbol.asyncDispose]();
  }
}

/** Throws an error of a companion with the name of its host. */
function blame({ host }: DistantProgram, error: unknown): never {
  if (!(error instanceof CompanionError)) throw error;
  throw new CompanionError(`${host.name}: ${error.message}`, error.reason, error.details);
}

/** Returns the part of a companion in a trial, judged by its own host: the trial fails if that is lost. */
function watchHost(companion: TrialCompanion, name: CompanionName, program: DistantProgram): TrialCompanion {
  const { host, cores } = program;
  /** Takes a step that cannot succeed without the host, whose loss is judged instead. */
  const attempt = async <T>(step: PromiseLike<T> | undefined): Promise<T | undefined> => {
    try {
      return await step;
    } catch (error) {
      return program.lost() === undefined ? blame(program, error) : undefined;
    }
  };
  let isTold = false;
  /** The loss of the host, once. */
  const tellLoss = (): Reason[] => {
    const why = program.lost();
    if (why === undefined || isTold) return [];
    isTold = true;
    return [makeReason('host-lost', { host: host.name, task: `keep the ${name} running`, why })];
  };
  return {
    ...companion,
    elsewhere: () => ({
      host: host.name,
      placement: { kind: 'separate', server: [], generator: [], beside: { [name]: cores } },
      machine: program.machine(),
    }),
    afterLoad: () => attempt(companion.afterLoad?.()),
    judge: (evidence) => (program.lost() === undefined ? (companion.judge?.(evidence) ?? []) : tellLoss()),
    keepsServerBusy: () => program.lost() !== undefined || (companion.keepsServerBusy?.() ?? false),
    async afterStop(hasFailed) {
      const found = await attempt(companion.afterStop?.(hasFailed));
      // A trial that has failed before was not judged.
      return [...tellLoss(), ...(found ?? [])];
    },
    async [Symbol.asyncDispose]() {
      await attempt(companion[Symbol.asyncDispose]());
    },
  };
}
