/** A companion that the program of another host runs. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { BenchError } from 'bench-model/errors';
import { present } from 'bench-model/options';
import type { CompanionHost } from 'bench-model/companions';
import { hide, redact, secretsOf } from 'bench-machine/redact';
import type { HostWindow } from 'bench-model/measured';
import type {
  DistantMeter,
  LaunchedProgram,
  LaunchContext,
  MovableNeeds,
} from 'bench-http/services/companion';
import type { DistantProgram } from 'bench-http/services/movable';
import { listOwnAddresses, type Inspected } from './inspect.ts';
import type { CompanionOrder, CompanionStep, HostMessage } from './host-protocol.ts';
import type { RemoteProgram, RunningProgram } from './remote-program.ts';

/** The longest that a host may take to find a program. */
const FIND_SECONDS = 60;
/** The longest that a host may take to launch a program, and to stop it. */
const LAUNCH_SECONDS = 60;

/** The part of a window that the answers of a host at its edges may take, and the time that they may take in any. */
const UNCERTAIN_SHARE = 0.25;
const UNCERTAIN_MS = 50;

type Answer = Exclude<HostMessage['event'], 'log' | 'fell'>;

/** The host of a companion. */
interface CompanionPlace {
  host: CompanionHost;
  /** Its agent, if that runs on this machine. */
  pid: number | undefined;
  /** The longest wait for an answer that is due. */
  deadlineSeconds: number;
  log: (line: string) => void;
}

/** A companion on another host. */
export class RemoteCompanion implements DistantProgram, AsyncDisposable {
  readonly kind: string;
  readonly version: string;
  readonly host: CompanionHost;
  readonly cores: number[];
  readonly #channel: StepChannel;
  readonly #place: CompanionPlace;
  #machine: HostWindow | undefined;

  private constructor(
    channel: StepChannel,
    place: CompanionPlace,
    found: Extract<HostMessage, { event: 'found' }>,
  ) {
    this.#channel = channel;
    this.#place = place;
    this.host = place.host;
    ({ kind: this.kind, version: this.version, cores: this.cores } = found);
  }

  /** Finds it on its host. Throws a trial error that names the host if that is not possible. */
  static async find(
    program: Pick<RemoteProgram, 'name' | 'run'>,
    order: CompanionOrder,
    place: CompanionPlace,
  ): Promise<RemoteCompanion> {
    const channel = new StepChannel(program, order, place.log);
    try {
      // Another command may measure there.
      await channel.hear('began');
      return new RemoteCompanion(channel, place, await channel.hear('found', FIND_SECONDS));
    } catch (error) {
      await channel[Symbol.asyncDispose]();
      throw error;
    }
  }

  lost(): string | undefined {
    return this.#channel.lost;
  }

  machine(): HostWindow | undefined {
    return this.#machine;
  }

  async launch({ folder, index = 0 }: LaunchContext): Promise<LaunchedProgram> {
    const channel = this.#channel;
    const { url } = await channel.ask({ do: 'launch', index }, 'launched', LAUNCH_SECONDS);
    hide(secretsOf({ url }));
    const { deadlineSeconds, pid, host, log } = this.#place;
    const ended = (): string | undefined => {
      const how = channel.lost ?? channel.fallen?.how;
      return how === undefined ? undefined : `${host.name}: ${how}`;
    };
    /** Takes a step, with the time before it and after its answer. */
    const pass = async <Event extends 'opened' | 'closed'>(step: 'open' | 'close', event: Event) => {
      const fromMs = performance.now();
      const answer = await channel.ask({ do: step }, event, deadlineSeconds).catch(() => undefined);
      return { answer, fromMs, toMs: performance.now() };
    };
    let opened = { fromMs: 0, toMs: 0 };
    const meter: DistantMeter = {
      start: async () => {
        opened = await pass('open', 'opened');
      },
      stop: async () => {
        const { answer, fromMs, toMs } = await pass('close', 'closed');
        const uncertainMs = toMs - fromMs + opened.toMs - opened.fromMs;
        // What a host sampled may be of another time.
        const isUncertain = uncertainMs > Math.max(UNCERTAIN_MS, UNCERTAIN_SHARE * (fromMs - opened.fromMs));
        if (answer !== undefined && isUncertain) {
          log(
            `${host.name}: its answers took ${Math.round(uncertainMs)} ms, so the CPU of the ${channel.order.name} in the window is not known`,
          );
          this.#machine = undefined;
          return undefined;
        }
        // On this machine, the servers and their load are the others.
        this.#machine = pid === undefined ? answer?.machine : undefined;
        return answer?.resources;
      },
    };
    return {
      url,
      ended,
      logTail: () => channel.fallen?.logTail ?? [],
      process: () => (ended() === undefined ? { pid, meter } : undefined),
      async [Symbol.asyncDispose]() {
        if (channel.lost !== undefined) return;
        const { name } = channel.order;
        // A host that is lost now takes its program with it.
        const landed = await channel.ask({ do: 'land' }, 'landed', LAUNCH_SECONDS).catch(() => undefined);
        const file = join(folder, 'logs', `${name}${index === 0 ? '' : index + 1}.log`);
        if (landed !== undefined) writeLog(file, landed.log);
      },
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#channel[Symbol.asyncDispose]();
  }
}

/** A companion that a host is to run. */
interface CompanionSpec extends Pick<CompanionOrder, 'name' | 'run' | 'prefix' | 'isAlone'> {
  needs: MovableNeeds;
  deadlineSeconds: number;
  log: (line: string) => void;
}

/** Finds a companion on a host. Throws a trial error that names the host if that is not possible. */
export async function startCompanion(
  program: RemoteProgram,
  { name: hostName, node, facts, isHere }: Inspected,
  { name, needs: { workload, params, upstream }, run, prefix, isAlone, deadlineSeconds, log }: CompanionSpec,
): Promise<RemoteCompanion> {
  const { cpuModel, cores, release, pid } = facts;
  return RemoteCompanion.find(
    program,
    {
      do: 'companion',
      run,
      name,
      needs: { workload, ...present({ params, upstream }) },
      network: { address: node.address, clients: listOwnAddresses() },
      prefix,
      isAlone,
    },
    {
      host: { name: hostName, cores, release, ...present({ cpuModel }) },
      pid: isHere ? pid : undefined,
      deadlineSeconds,
      log,
    },
  );
}

function writeLog(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, redact(text));
}

/** The steps of a companion and their answers, one after the other. */
class StepChannel implements AsyncDisposable {
  readonly order: CompanionOrder;
  /** The reason why it can no longer be reached; undefined while it can. */
  lost: string | undefined;
  /** The message that its program has ended by itself; undefined while it runs. */
  fallen: Extract<HostMessage, { event: 'fell' }> | undefined;
  readonly #name: string;
  readonly #running: RunningProgram;
  readonly #loss = Promise.withResolvers<never>();
  readonly #answers = new Map<string, PromiseWithResolvers<HostMessage>>();
  #last: Promise<unknown> = Promise.resolve();

  constructor(
    program: Pick<RemoteProgram, 'name' | 'run'>,
    order: CompanionOrder,
    log: (line: string) => void,
  ) {
    this.order = order;
    this.#name = program.name;
    this.#loss.promise.catch(() => {});
    this.#running = program.run(order, (message) => {
      if (message.event === 'log') log(`${program.name}: ${message.line}`);
      else if (message.event === 'fell') this.fallen = message;
      else this.#answerTo(message.event).resolve(message);
    });
    this.#running.over.then(
      () => this.#lose('it has ended'),
      (error: Error) => this.#lose(error.message),
    );
  }

  /** Takes a step, and returns its answer. Throws a trial error that names the host if none comes. */
  ask<Event extends Answer>(
    step: CompanionStep,
    event: Event,
    seconds: number,
  ): Promise<Extract<HostMessage, { event: Event }>> {
    const answer = this.#last.then(() => {
      if (step.do === 'launch') this.fallen = undefined;
      if (this.lost === undefined) this.#running.send(step);
      return this.hear(event, seconds);
    });
    this.#last = answer.catch(() => {});
    return answer;
  }

  /** Waits for a message. Throws a trial error that names the host if it does not come. */
  async hear<Event extends Answer>(
    event: Event,
    seconds?: number,
  ): Promise<Extract<HostMessage, { event: Event }>> {
    const late = (): void => this.#lose(`it did not answer for ${seconds} s`);
    const timer = seconds === undefined ? undefined : setTimeout(late, seconds * 1000);
    try {
      const heard = await Promise.race([this.#answerTo(event).promise, this.#loss.promise]);
      return heard as Extract<HostMessage, { event: Event }>;
    } finally {
      clearTimeout(timer);
      this.#answers.delete(event);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#lose('it was stopped');
    await this.#running.end();
  }

  /** A message can arrive before somebody waits for it. */
  #answerTo(event: string): PromiseWithResolvers<HostMessage> {
    const answer = this.#answers.get(event) ?? Promise.withResolvers<HostMessage>();
    this.#answers.set(event, answer);
    return answer;
  }

  #lose(why: string): void {
    if (this.lost !== undefined) return;
    this.lost = why;
    this.#loss.reject(new BenchError('trial', `${this.#name}: ${why}`));
  }
}
