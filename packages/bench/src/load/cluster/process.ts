/** Processes that the agent of another host starts, by the driver. */
import type { AgentEvent, ClusterDriver } from './driver.ts';

/** A running process on another host. */
export interface RemoteProcess {
  /** Sends a line. One that has not arrived by `notAfterMs`, in ms since the epoch of that host, breaks the process. */
  send(message: object, notAfterMs?: number): void;
  /** Kills the process, and returns when it has ended. */
  end(): Promise<void>;
}

/** Takes the lines of a process, and the reason why there are no more. */
export interface RemoteEvents<Message> {
  take: (message: Message) => void;
  broke: (why: string) => void;
}

/** The agent of one host, and the processes that it has started. */
export class RemoteProcesses {
  /** The reason why its host was lost; undefined while it is there. */
  lost: string | undefined;
  readonly #driver: ClusterDriver;
  readonly #agent: number;
  readonly #events = new Map<number, RemoteEvents<unknown>>();
  #last = 0;

  constructor(driver: ClusterDriver, agent: number) {
    this.#driver = driver;
    this.#agent = agent;
    driver.watch(agent, (event) => this.#take(event));
  }

  /** Starts a process in a folder. `commandOf` returns its words from its number, from 1 on. */
  start<Message>(
    commandOf: (process: number) => string[],
    cwd: string,
    events: RemoteEvents<Message>,
  ): RemoteProcess {
    const process = ++this.#last;
    const at = { agent: this.#agent, process };
    this.#events.set(process, events as RemoteEvents<unknown>);
    const started = this.#driver.ask('start', { ...at, argv: commandOf(process), cwd });
    started.catch((error: Error) => events.broke(error.message));
    return {
      send: (message, notAfterMs) => {
        const line = JSON.stringify(message);
        started
          .then(() => this.#driver.ask('tell', { ...at, line, ...(notAfterMs && { notAfterMs }) }))
          .catch((error: Error) => events.broke(error.message));
      },
      end: async () => {
        this.#events.delete(process);
        if (this.lost !== undefined) return;
        // An agent that is lost meanwhile takes its processes with it.
        await started.then(() => this.#driver.ask('end', at)).catch(() => {});
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
    else if (event.event === 'ended') events?.broke(`it ended (${event.status}). ${event.stderr}`);
    else events?.broke(`it got its order to fire ${event.byMs.toFixed(1)} ms too late`);
  }
}
