/** The hosts that rounds are spread over: placed, checked, and each running the program of this checkout. */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { AsyncDisposableStack } from '@whatwg-node/disposablestack';
import type { Spread } from 'bench-model/cluster';
import { TrialError, UsageError } from 'bench-model/errors';
import { HOME } from 'bench-machine/home';
import { inspectCluster, refuseUnfit, type CheckedHost } from './inspect.ts';
import type { Line } from 'bench-load/line';
import { Gateway, type HostFacts } from './gateway.ts';
import type { HostMessage, HostOrder, StopOrder } from './host-protocol.ts';
import { provideProgram } from './program.ts';
import { RemoteProcesses } from './process.ts';

/** What a host has prepared or measured. */
export type Produced = Extract<HostMessage, { event: 'prepared' | 'trial' }>;

/** A host that carries out orders with the program of its checkout. */
export interface ProgramHost {
  /** Unique in the cluster. */
  readonly name: string;
  /**
   * Carries out an order, and returns when it is done. Throws a trial error that says why it was not. `seconds` is the
   * longest that it may take once no other command measures on that host.
   */
  ask(order: HostOrder, seconds: number, take: (message: Produced) => void): Promise<void>;
  /** Stops its current order. */
  stop(): void;
}

/** The hosts of a spread run. Disposing leaves the cluster and ends their programs. */
export interface OpenHosts extends AsyncDisposable {
  hosts: ProgramHost[];
}

/** Joins a cluster, and checks the hosts that a run is to be spread over. Throws an error that names those that do not fit. */
export async function openHosts(spec: Spread, log: (line: string) => void): Promise<OpenHosts> {
  await using opened = new AsyncDisposableStack();
  const gateway = opened.use(await Gateway.join(await provideProgram(log), spec.address));
  const hosts = await inspectCluster(gateway, spec);
  refuseUnfit(hosts);
  const unequal = findUnequal(hosts);
  if (unequal.length > 0) {
    throw new UsageError(
      `rounds can only be spread over equal hosts: ${unequal.join('; ')}`,
      'give the role to equal hosts only',
    );
  }
  opened.move();
  return {
    hosts: hosts.map((host) => new OrderedHost(gateway, host, spec.checkout ?? HOME.root, log)),
    [Symbol.asyncDispose]: () => gateway[Symbol.asyncDispose](),
  };
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

const STOP_MS = 15_000;

/** A host that carries out one order after the other, with the program of its checkout, which its agent starts. */
class OrderedHost implements ProgramHost {
  readonly name: string;
  readonly #processes: RemoteProcesses;
  readonly #checkout: string;
  readonly #argv: string[];
  readonly #log: (line: string) => void;
  readonly #told = new Set<string>();
  #running: Line<object> | undefined;

  constructor(
    gateway: Gateway,
    { agent, name, facts }: CheckedHost,
    checkout: string,
    log: (line: string) => void,
  ) {
    this.name = name;
    this.#log = log;
    this.#checkout = checkout;
    this.#processes = new RemoteProcesses(gateway, agent);
    const program = join(checkout, 'packages', 'bench', 'bench-http.mjs');
    this.#argv = [facts.node.path ?? 'node', program, 'host'];
  }

  async ask(order: HostOrder, seconds: number, take: (message: Produced) => void): Promise<void> {
    const late = Promise.withResolvers<string>();
    const ended = Promise.withResolvers<string | undefined>();
    let timer: NodeJS.Timeout | undefined;
    let refusal: string | undefined;
    let isDone = false;
    const limit = (): void => {
      timer = setTimeout(() => {
        this.stop();
        late.resolve(`it did not finish in ${Math.round(seconds)} s`);
      }, seconds * 1000);
    };
    const running = this.#processes.start<HostMessage>(() => this.#argv, this.#checkout, {
      take: (message) => {
        if (message.event === 'refused')
          refusal = message.hint === undefined ? message.message : `${message.message} (${message.hint})`;
        else if (message.event === 'done') isDone = true;
        else if (message.event === 'began') limit();
        else if (message.event === 'log') this.#pass(message.line);
        else take(message);
      },
      // The next order waits for the end of the program, which releases its machine.
      broke: (why) => ended.resolve(isDone ? undefined : (refusal ?? why)),
    });
    this.#running = running;
    running.send(order);
    const failure = await Promise.race([ended.promise, late.promise]);
    clearTimeout(timer);
    // One that is late stops its servers first.
    await Promise.race([ended.promise, sleep(STOP_MS, undefined, { ref: false })]);
    this.#running = undefined;
    await running.end();
    if (failure !== undefined) throw new TrialError(failure);
  }

  stop(): void {
    this.#running?.send({ do: 'stop' } satisfies StopOrder);
  }

  /** Passes on what the program says, once: each round prepares the same anew, and only figures differ. */
  #pass(line: string): void {
    const text = line.replaceAll(/\d+/g, '');
    if (!this.#told.has(text)) this.#log(`${this.name}: ${line}`);
    this.#told.add(text);
  }
}
