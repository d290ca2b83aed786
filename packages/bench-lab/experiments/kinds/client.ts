/** A closed-loop HTTP client on plain sockets. It counts answers by their length, which is the same for all of them. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { sum } from 'bench-statistics/numbers';
import { readThreadsUs } from 'bench-machine/procfs';

/** The connections of a client and what it sends on them. */
export interface Manner {
  connections: number;
  /** Requests under way on each connection. */
  pipelined: number;
  /** Header lines besides Host. */
  headers: string[];
}

export const USUAL: Manner = { connections: 10, pipelined: 1, headers: [] };

/** One span under load, up to the last answer. */
export interface Span {
  answers: number;
  seconds: number;
  /** CPU time of the server's process per answer, in µs. */
  cpuUs: number;
}

/** One connection and the part of an answer that has arrived. */
interface Line {
  socket: Socket;
  received: number;
  due: number;
}

const POLL_MS = 20;

/** Loads one server in spans and is silent between them. */
export class Client {
  readonly #pid: number;
  readonly #manner: Manner;
  readonly #request: Buffer;
  readonly #lines: Line[] = [];
  #answerBytes = 0;
  #answers = 0;
  #due = 0;
  #isLoading = false;
  #whenIdle = Promise.withResolvers<void>();

  private constructor(pid: number, port: number, manner: Manner) {
    this.#pid = pid;
    this.#manner = manner;
    const lines = ['GET /api/devices HTTP/1.1', `Host: 127.0.0.1:${port}`, ...manner.headers];
    this.#request = Buffer.from(`${lines.join('\r\n')}\r\n\r\n`);
  }

  /** Connects to a server on this machine. Sends nothing yet. */
  static async open(pid: number, port: number, manner = USUAL): Promise<Client> {
    const client = new Client(pid, port, manner);
    for (let index = 0; index < manner.connections; index++) await client.#connect(port);
    return client;
  }

  async #connect(port: number): Promise<void> {
    const socket = connect(port, '127.0.0.1').setNoDelay(true);
    await once(socket, 'connect');
    const line = { socket, received: 0, due: 0 };
    socket.on('data', ({ length }) => this.#receive(line, length));
    socket.on('error', (error) => this.#whenIdle.reject(error));
    socket.on('close', () => this.#whenIdle.reject(new Error('the server closed a connection')));
    this.#lines.push(line);
  }

  /** CPU time of the server's process so far, in µs. */
  cpuUs(): number {
    return sum([...readThreadsUs(this.#pid).values()]);
  }

  /** Loads the server until `isEnough`, by default for some milliseconds, and waits for the last answer. */
  async load(milliseconds: number, isEnough?: () => boolean): Promise<Span> {
    const before = { answers: this.#answers, cpuUs: this.cpuUs(), ms: performance.now() };
    this.#whenIdle = Promise.withResolvers();
    this.#isLoading = true;
    if (this.#answerBytes === 0) await this.#learn();
    for (const line of this.#lines) this.#send(line, this.#manner.pipelined);
    if (isEnough === undefined) await sleep(milliseconds);
    else while (!isEnough() && performance.now() - before.ms < milliseconds) await sleep(POLL_MS);
    this.#isLoading = false;
    if (this.#due > 0) await this.#whenIdle.promise;
    const answers = this.#answers - before.answers;
    const seconds = (performance.now() - before.ms) / 1000;
    return { answers, seconds, cpuUs: (this.cpuUs() - before.cpuUs) / answers };
  }

  /** Sends the first request alone and learns how long an answer is. */
  async #learn(): Promise<void> {
    const [line] = this.#lines as [Line];
    this.#isLoading = false;
    line.socket.removeAllListeners('data');
    line.socket.write(this.#request);
    let text = '';
    while (this.#answerBytes === 0) {
      const [piece] = (await once(line.socket, 'data')) as [Buffer];
      text += piece.toString('latin1');
      const head = text.indexOf('\r\n\r\n');
      const length = /^content-length: *(\d+)/im.exec(text.slice(0, head))?.[1];
      if (head < 0) continue;
      if (!text.startsWith('HTTP/1.1 200 ') || length === undefined)
        throw new Error(`an answer without status 200 or without a length: ${text.slice(0, head)}`);
      const bytes = head + 4 + Number(length);
      if (text.length === bytes) this.#answerBytes = bytes;
    }
    this.#answers++;
    line.socket.on('data', ({ length }) => this.#receive(line, length));
    this.#isLoading = true;
  }

  #send(line: Line, count: number): void {
    line.due += count;
    this.#due += count;
    line.socket.write(count === 1 ? this.#request : Buffer.concat(Array(count).fill(this.#request)));
  }

  #receive(line: Line, bytes: number): void {
    const received = line.received + bytes;
    const whole = Math.floor(received / this.#answerBytes);
    line.received = received % this.#answerBytes;
    line.due -= whole;
    this.#due -= whole;
    this.#answers += whole;
    if (line.due < 0 || (line.due === 0 && line.received > 0))
      this.#whenIdle.reject(new Error('an answer of another length'));
    else if (this.#isLoading && whole > 0) this.#send(line, whole);
    else if (this.#due === 0) this.#whenIdle.resolve();
  }

  close(): void {
    for (const { socket } of this.#lines) socket.removeAllListeners('close').destroy();
  }
}
