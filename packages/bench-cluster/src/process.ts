/** Processes that the agent of another host starts. Orders and events pass through the gateway. */
import { describeExit, type Listener } from 'bench-load/listen';
import type { Line } from 'bench-load/line';
import type { AgentEvent, Gateway } from './gateway.ts';

/** The agent of one host, and the processes that it has started. */
export class RemoteProcesses {
  /** The reason why its host was lost; undefined while it is there. */
  lost: string | undefined;
  readonly #gateway: Gateway;
  readonly #agent: number;
  readonly #events = new Map<number, Listener<unknown>>();
  #last = 0;

  constructor(gateway: Gateway, agent: number) {
    this.#gateway = gateway;
    this.#agent = agent;
    gateway.watch(agent, (event) => this.#take(event));
  }

  /** Starts a process in a folder. `commandOf` returns its words from its number, from 1 on. */
  start<Message>(
    commandOf: (process: number) => string[],
    cwd: string,
    events: Listener<Message>,
  ): Line<object> {
    const process = ++this.#last;
    const at = { agent: this.#agent, process };
    this.#events.set(process, events as Listener<unknown>);
    const started = this.#gateway.ask('start', { ...at, argv: commandOf(process), cwd });
    started.catch((error: Error) => events.broke(error.message));
    return {
      pid: undefined,
      send: (message, notAfterMs) => {
        const line = JSON.stringify(message);
        started
          .then(() => this.#gateway.ask('tell', { ...at, line, ...(notAfterMs && { notAfterMs }) }))
          .catch((error: Error) => events.broke(error.message));
      },
      end: async () => {
        this.#events.delete(process);
        if (this.lost !== undefined) return;
        // An agent that is lost meanwhile takes its processes with it.
        await started.then(() => this.#gateway.ask('end', at)).catch(() => {});
      },
    };
  }

  #take(event: AgentEvent): void {
    if (event.event === 'lost') {
      this.lost = event.why;
      for (const { broke } of this.#events.values()) broke(`its host was lost: ${event.why}`);
      return;
    }
    const events = this.#events.get(event.process);
    if (event.event === 'line') events?.take(JSON.parse(event.line));
    else events?.broke(describeBreak(event));
  }
}

function describeBreak(event: Extract<AgentEvent, { event: 'ended' | 'late' }>): string {
  if (event.event === 'late') return `it got its order to fire ${event.byMs.toFixed(1)} ms too late`;
  const { status, stderr } = event;
  return describeExit(status < 0 ? `signal ${-status}` : status, stderr);
}
