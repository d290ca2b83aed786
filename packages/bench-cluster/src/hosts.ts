/** The hosts that rounds are spread over: placed, checked, and each running the program of this checkout. */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Spread } from 'bench-model/cluster';
import { TrialError, UsageError } from 'bench-model/errors';
import { checkoutOf, inspectCluster, refuseUnfit, type CheckedHost, type Inspected } from './inspect.ts';
import { Gateway, type HostFacts } from './gateway.ts';
import type { HostMessage, HostOrder, StopOrder } from './host-protocol.ts';
import { provideProgram } from './program.ts';
import { RemoteProcesses, type RemoteProcess } from './process.ts';

/** A host that carries out orders with the program of its checkout. */
export interface ProgramHost {
  /** Unique in the cluster. */
  readonly name: string;
  /**
   * Carries out an order, and returns when it is done. Throws a trial error that says why it was not. `seconds` is the
   * longest that it may take once no other command measures on that host.
   */
  ask(order: HostOrder, seconds: number, take: (message: HostMessage) => void): Promise<void>;
  /** Stops its current order. */
  stop(): void;
}

/** The hosts of a spread run. Disposing leaves the cluster and ends their programs. */
export interface OpenHosts extends AsyncDisposable {
  hosts: ProgramHost[];
}

/** Joins a cluster, and checks the hosts that a run is to be spread over. Throws an error that names those that do not fit. */
export async function openHosts(spec: Spread, log?: (doing: string) => void): Promise<OpenHosts> {
  const gateway = await Gateway.join(await provideProgram(log), spec.address);
  try {
    const hosts = await inspectCluster(gateway, spec);
    refuseUnfit(hosts);
    refuseUnequal(hosts);
    return {
      hosts: hosts.map((host) => new OrderedHost(gateway, host, checkoutOf(spec))),
      [Symbol.asyncDispose]: () => gateway[Symbol.asyncDispose](),
    };
  } catch (error) {
    await gateway[Symbol.asyncDispose]();
    throw error;
  }
}

/** The facts in which the hosts of a spread run must be equal. */
const FINGERPRINT: [what: string, of: (facts: HostFacts) => string | number | undefined][] = [
  ['CPU', ({ cpuModel }) => cpuModel],
  ['cores', ({ cores }) => cores],
  ['kernel', ({ release }) => release],
];

/** Describes the differences of each host from most others; empty if all are equal. Their checkouts and Nodes are checked already. */
export function findUnequal(hosts: readonly Pick<CheckedHost, 'name' | 'facts'>[]): string[] {
  return FINGERPRINT.flatMap(([what, of]) => {
    const values = hosts.map(({ facts }) => of(facts) ?? 'unknown');
    const [usual] = [...Map.groupBy(values, (value) => value).values()]
      .toSorted((a, b) => b.length - a.length)
      .flatMap(([value]) => value ?? []);
    return hosts.flatMap(({ name }, index) =>
      values[index] === usual
        ? []
        : [`${name}: its ${what} is ${values[index]}, and that of others ${usual}`],
    );
  });
}

function refuseUnequal(hosts: readonly CheckedHost[]): void {
  const found = findUnequal(hosts);
  if (found.length === 0) return;
  throw new UsageError(
    `rounds can only be spread over equal hosts: ${found.join('; ')}`,
    'give the role to equal hosts only',
  );
}

/** The longest that a program may take to stop. */
const STOP_MS = 15_000;

/** A host that carries out one order after the other, with the program of its checkout, which its agent starts. */
class OrderedHost implements ProgramHost {
  readonly name: string;
  readonly #processes: RemoteProcesses;
  readonly #checkout: string;
  readonly #argv: string[];
  #running: RemoteProcess | undefined;

  constructor(gateway: Gateway, { agent, name, facts }: Inspected, checkout: string) {
    this.name = name;
    this.#checkout = checkout;
    this.#processes = new RemoteProcesses(gateway, agent);
    const program = join(checkout, 'packages', 'bench', 'bench-http.mjs');
    this.#argv = [facts.node.path ?? 'node', program, 'host'];
  }

  async ask(order: HostOrder, seconds: number, take: (message: HostMessage) => void): Promise<void> {
    const over = Promise.withResolvers<void>();
    const ended = Promise.withResolvers<void>();
    let timer: NodeJS.Timeout | undefined;
    let refusal: string | undefined;
    let isDone = false;
    const limit = (): void => {
      timer = setTimeout(() => {
        this.stop();
        over.reject(new TrialError(`it did not finish in ${Math.round(seconds)} s`));
      }, seconds * 1000);
    };
    const running = this.#processes.start<HostMessage>(() => this.#argv, this.#checkout, {
      take: (message) => {
        if (message.event === 'refused') refusal = describeRefusal(message);
        else if (message.event === 'done') isDone = true;
        else if (message.event === 'began') limit();
        else take(message);
      },
      // The next order waits for the end of the program, which releases its machine.
      broke: (why) => {
        ended.resolve();
        if (isDone) over.resolve();
        else over.reject(new TrialError(refusal ?? why));
      },
    });
    this.#running = running;
    running.send(order);
    try {
      await over.promise;
    } finally {
      clearTimeout(timer);
      // One that is late stops its servers first.
      await Promise.race([ended.promise, sleep(STOP_MS, undefined, { ref: false })]);
      this.#running = undefined;
      await running.end();
    }
  }

  stop(): void {
    this.#running?.send({ do: 'stop' } satisfies StopOrder);
  }
}

function describeRefusal({ message, hint }: { message: string; hint?: string }): string {
  return hint === undefined ? message : `${message} (${hint})`;
}
