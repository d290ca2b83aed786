/** An HTTP client on plain sockets: a closed loop, or an open loop at a rate. It counts answers by their length. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** One connection, and the part of an answer that has arrived. */
interface Line {
  socket: Socket;
  received: number;
  isFree: boolean;
}

/** Loads one server from `start` to `stop`. */
export class Client {
  readonly #request: Buffer;
  readonly #lines: Line[] = [];
  #answerBytes = 0;
  #perSecond: number | undefined;
  #isLoading = false;
  #startedAt = 0;
  #sent = 0;
  #timer: NodeJS.Timeout | undefined;
  /** Whole answers so far. */
  answers = 0;

  private constructor(port: number, path: string) {
    this.#request = Buffer.from(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`);
  }

  /** Connects to a server on this machine, and learns how long its answer is. */
  static async open(port: number, path: string, connections: number): Promise<Client> {
    const client = new Client(port, path);
    for (let index = 0; index < connections; index++) {
      const socket = connect(port, '127.0.0.1').setNoDelay(true);
      await once(socket, 'connect');
      client.#lines.push({ socket, received: 0, isFree: true });
    }
    await client.#learn();
    for (const line of client.#lines) {
      line.socket.on('data', ({ length }) => client.#receive(line, length));
      line.socket.on('error', (error) => {
        throw error;
      });
    }
    return client;
  }

  async #learn(): Promise<void> {
    const [{ socket }] = this.#lines as [Line];
    socket.write(this.#request);
    let text = '';
    while (this.#answerBytes === 0) {
      const [piece] = (await once(socket, 'data')) as [Buffer];
      text += piece.toString('latin1');
      const head = text.indexOf('\r\n\r\n');
      const length = /^content-length: *(\d+)/im.exec(text.slice(0, head))?.[1];
      if (head < 0) continue;
      if (!text.startsWith('HTTP/1.1 200 ') || length === undefined)
        throw new Error(`an answer without status 200 or without a length: ${text.slice(0, head)}`);
      if (text.length === head + 4 + Number(length)) this.#answerBytes = text.length;
    }
  }

  /** Starts to send: at a rate, or as soon as an answer arrives. */
  start(perSecond: number | undefined): void {
    this.#isLoading = true;
    this.#perSecond = perSecond;
    this.#startedAt = performance.now();
    this.#sent = 0;
    if (perSecond === undefined) for (const line of this.#lines) this.#send(line);
    else this.#timer = setInterval(() => this.#sendDue(), 1);
  }

  /** Stops, and waits until nothing is in flight. */
  async stop(): Promise<void> {
    this.#isLoading = false;
    clearInterval(this.#timer);
    while (this.#lines.some(({ isFree }) => !isFree)) await new Promise((resolve) => setTimeout(resolve, 1));
  }

  /** Sends the requests that are due, on connections that are free. */
  #sendDue(): void {
    const due = ((performance.now() - this.#startedAt) / 1000) * (this.#perSecond ?? 0);
    for (const line of this.#lines) {
      if (this.#sent >= due) return;
      if (line.isFree) this.#send(line);
    }
  }

  #send(line: Line): void {
    line.isFree = false;
    this.#sent++;
    line.socket.write(this.#request);
  }

  #receive(line: Line, bytes: number): void {
    line.received += bytes;
    if (line.received < this.#answerBytes) return;
    if (line.received > this.#answerBytes) throw new Error('an answer of another length');
    line.received = 0;
    line.isFree = true;
    this.answers++;
    if (!this.#isLoading) return;
    if (this.#perSecond === undefined) this.#send(line);
    else this.#sendDue();
  }

  close(): void {
    for (const { socket } of this.#lines) socket.destroy();
  }
}
