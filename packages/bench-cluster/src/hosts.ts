/** The hosts that rounds are spread over: placed, checked, and each running the program of this checkout. */
import type { Spread } from 'bench-model/cluster';
import { BenchError } from 'bench-model/errors';
import { checkoutOf, inspectCluster, refuseUnfit, type CheckedHost } from './inspect.ts';
import { Gateway, type HostFacts } from './gateway.ts';
import type { HostMessage, HostOrder } from './host-protocol.ts';
import { provideProgram } from './program.ts';
import { RemoteProgram, type RunningProgram } from './remote-program.ts';

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
      hosts: hosts.map((host) => new OrderedHost(new RemoteProgram(gateway, host, checkoutOf(spec)))),
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
  throw new BenchError(
    'usage',
    `rounds can only be spread over equal hosts: ${found.join('; ')}`,
    'give the role to equal hosts only',
  );
}

/** A host that carries out one order after the other. */
class OrderedHost implements ProgramHost {
  readonly name: string;
  readonly #program: RemoteProgram;
  #running: RunningProgram | undefined;

  constructor(program: RemoteProgram) {
    this.name = program.name;
    this.#program = program;
  }

  async ask(order: HostOrder, seconds: number, take: (message: HostMessage) => void): Promise<void> {
    const late = Promise.withResolvers<never>();
    let timer: NodeJS.Timeout | undefined;
    const running = this.#program.run(order, (message) => {
      if (message.event !== 'began') return take(message);
      const why = `it did not finish in ${Math.round(seconds)} s`;
      timer = setTimeout(() => late.reject(new BenchError('trial', why)), seconds * 1000);
    });
    this.#running = running;
    try {
      await Promise.race([running.over, late.promise]);
    } finally {
      clearTimeout(timer);
      this.#running = undefined;
      await running.end();
    }
  }

  stop(): void {
    this.#running?.stop();
  }
}
