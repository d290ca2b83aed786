import { setTimeout as sleep } from 'node:timers/promises';
import { BenchError } from 'bench-model/errors';
import { programBeside } from 'bench-machine/home';
import type { PinnedCommands } from 'bench-machine/placement';
import { killAndWait, start, type Child } from 'bench-machine/subprocess';
import { describeGarbage, readLines } from './protocol.ts';
import type { WorkMark } from './marks.ts';

/** The clients that the driver is compared with. */
const RIVALS = {
  stock: { program: programBeside(import.meta.url, 'rival-stock'), name: 'stock autocannon' },
  plain: { program: programBeside(import.meta.url, 'rival-plain'), name: 'the plain client' },
};
type RivalName = keyof typeof RIVALS;

/** The time for which it sends before a turn counts. */
const RAMP_MS = 30;

/** The work of a client in one turn. */
export interface Work {
  answers: number;
  cpuUs: number;
}

/** A client with established connections. It is stopped by SIGSTOP between turns, because it cannot pause. */
export class Rival implements AsyncDisposable {
  readonly #child: Child;
  readonly #name: string;
  #next = Promise.withResolvers<WorkMark>();

  constructor(
    rival: RivalName,
    { generator }: Pick<PinnedCommands, 'generator'>,
    url: string,
    connections: number,
  ) {
    const { program, name } = RIVALS[rival];
    this.#name = name;
    const words = [program, url, String(connections)];
    this.#child = start({ stdio: 'pipe' })`exec ${[...generator, process.execPath, ...words]}`;
    this.#next.promise.catch(() => {});
    this.#child.on('exit', () => this.#next.reject(new BenchError('trial', `${name} ended`)));
    this.#child.stdin?.on('error', () => {});
    if (this.#child.stdout) {
      readLines<WorkMark>(
        this.#child.stdout,
        (mark) => this.#next.resolve(mark),
        (line) => this.#next.reject(new BenchError('trial', `${name} failed: ${describeGarbage(line)}`)),
      );
    }
  }

  /** Resolves when every connection has been answered. Throws a trial error after this time. */
  async arm(mostSeconds: number): Promise<void> {
    const late = sleep(mostSeconds * 1000, undefined, { ref: false }).then(() => {
      throw new BenchError('trial', `${this.#name} has not connected after ${mostSeconds} s`);
    });
    await Promise.race([this.#next.promise, late]);
    this.#child.kill('SIGSTOP');
  }

  /** Sends for this time, and returns the work in it. */
  async take(seconds: number): Promise<Work> {
    this.#child.kill('SIGCONT');
    await sleep(RAMP_MS);
    const before = await this.#mark();
    await sleep(seconds * 1000);
    const after = await this.#mark();
    this.#child.kill('SIGSTOP');
    return { answers: after.completed - before.completed, cpuUs: after.cpuUs - before.cpuUs };
  }

  #mark(): Promise<WorkMark> {
    this.#next = Promise.withResolvers<WorkMark>();
    this.#child.stdin?.write('\n');
    return this.#next.promise;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.removeAllListeners('exit');
    await killAndWait(this.#child);
  }
}
