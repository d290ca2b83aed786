import type { Socket } from 'node:net';
import type { Account, Answer } from './account.ts';
import type { Faults } from './faults.ts';
import { type Request, readRequest } from './parser.ts';
import { Queue } from './queue.ts';

/** The state that all connections of a server share. */
export interface House {
  account: Account;
  faults: Faults;
  /** The waiting answers, by their delay in ms. */
  queues: Map<number, Queue>;
  /** The bytes before each answer; empty by default. */
  interim: Buffer;
  duplicateAfterMs: number;
  answers: Record<Answer, Buffer>;
  /** The same answers, for a client that sent `connection: close`. */
  lastAnswers: Record<Answer, Buffer>;
  closeAfterAnswer: boolean;
  waits: boolean;
  /** The number of `GET /held` that still get an answer. */
  heldAnswers: number;
}

/** The treatment of a connection, decided when it is accepted. */
export type Treatment = 'serve' | 'closeAtAccept' | 'neverAnswer';

const ROUTE = '/api/devices';
/** Gets the same answer for the first `--held-after` requests. */
const HELD = '/held';

/** One accepted connection: reads requests and gives each its outcome. */
export class Connection {
  readonly #socket: Socket;
  readonly #house: House;
  readonly #treatment: Treatment;
  #rest = '';
  #pending = 0;
  /** True after the server has closed its side. */
  #ended = false;
  #gone = false;
  /** True if the next answer is sent twice. */
  #isDoubled = false;

  constructor(socket: Socket, house: House, treatment: Treatment) {
    this.#socket = socket;
    this.#house = house;
    this.#treatment = treatment;
    house.account.connections.accepted++;
    house.account.connections.open++;
    socket.on('data', (chunk: Buffer) => this.#read(chunk));
    socket.on('end', () => this.#leave());
    socket.on('error', () => house.account.connections.errors++);
    socket.on('close', () => {
      house.account.connections.open--;
      this.#leave();
    });
    if (treatment === 'closeAtAccept') {
      house.account.connections.closedAtAccept++;
      this.#end();
    } else if (treatment === 'neverAnswer') {
      house.account.connections.unserved++;
    }
  }

  /** Writes the answer to a request that waited. Returns false if the client has closed the connection. */
  answerLater(answer: Answer, readAt: number, close: boolean): boolean {
    if (this.#gone) return false;
    this.#pending--;
    this.#house.account.requests.pending--;
    this.#answer(answer, readAt, close);
    return true;
  }

  #read(chunk: Buffer): void {
    const readAt = performance.now();
    let text = chunk.toString('latin1');
    if (this.#rest !== '') text = this.#rest + text;
    try {
      for (let request = readRequest(text); request !== undefined; request = readRequest(text)) {
        text = text.slice(request.length);
        this.#take(request, readAt);
        if (text === '' || this.#gone) break;
      }
      this.#rest = text;
    } catch {
      this.#house.account.unread.malformed++;
      this.#rest = '';
      this.#socket.destroy();
    }
  }

  #take(request: Request, readAt: number): void {
    const { account, faults, waits } = this.#house;
    account.requests.read++;
    account.bodyBytesRead += request.bodyBytes;
    if (this.#ended) {
      account.requests.late++;
      return;
    }
    if (this.#treatment === 'neverAnswer') {
      this.#wait();
      return;
    }
    if (request.path === HELD) {
      if (this.#house.heldAnswers-- > 0) this.#answer('ok', readAt, request.close);
      else this.#wait();
      return;
    }
    const { number } = faults;
    faults.suffer(number);
    const fate = request.path === ROUTE ? faults.fate(number) : 'notFound';
    this.#isDoubled = faults.isDoubled(number);
    if (fate === 'unanswered') {
      this.#wait();
    } else if (fate === 'reset') {
      account.requests.resets++;
      this.#gone = true;
      this.#socket.resetAndDestroy();
    } else if (fate === 'closeEarly') {
      account.requests.closedEarly++;
      this.#end();
    } else if (number > 0 && (waits || readAt < faults.heldUntil)) {
      this.#wait();
      this.#queueOf(faults.delayMs(number)).add({
        connection: this,
        answer: fate,
        readAt,
        close: request.close,
      });
    } else {
      this.#answer(fate, readAt, request.close);
    }
  }

  #queueOf(delayMs: number): Queue {
    const { account, faults, queues } = this.#house;
    let queue = queues.get(delayMs);
    if (queue === undefined) {
      queue = new Queue(delayMs, faults, account);
      queues.set(delayMs, queue);
    }
    return queue;
  }

  #wait(): void {
    this.#pending++;
    this.#house.account.requests.pending++;
  }

  #answer(answer: Answer, readAt: number, close: boolean): void {
    const { account, answers, lastAnswers, closeAfterAnswer } = this.#house;
    if (this.#ended) {
      account.requests.late++;
      return;
    }
    if (close || closeAfterAnswer) {
      this.#socket.write((closeAfterAnswer ? answers : lastAnswers)[answer]);
      account.answer(answer, readAt);
      account.connections.closedAfterAnswer++;
      this.#end();
    } else {
      this.#send(answers[answer]);
      account.answer(answer, readAt);
    }
  }

  #send(bytes: Buffer): void {
    const { account, interim, duplicateAfterMs } = this.#house;
    const whole = interim.length === 0 ? bytes : Buffer.concat([interim, bytes]);
    if (!this.#isDoubled) {
      this.#socket.write(whole);
      return;
    }
    this.#isDoubled = false;
    account.duplicates++;
    if (duplicateAfterMs === 0) {
      this.#socket.write(Buffer.concat([whole, whole]));
    } else {
      this.#socket.write(whole);
      setTimeout(() => this.#socket.write(whole), duplicateAfterMs);
    }
  }

  /** Closes the server's side (FIN) and continues to read, so that a request in flight is counted and gets no reset. */
  #end(): void {
    this.#ended = true;
    this.#socket.end();
  }

  /** Counts all pending answers as abandoned: the client has closed its side. */
  #leave(): void {
    if (this.#rest !== '') this.#house.account.unread.leftover++;
    this.#rest = '';
    this.#house.account.requests.abandoned += this.#pending;
    this.#house.account.requests.pending -= this.#pending;
    this.#pending = 0;
    this.#gone = true;
    if (!this.#ended) this.#end();
  }
}
