import type { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import type { Stamp } from './ids.ts';
import type { Ledger, Slot } from './ledger.ts';
import type { Pacer } from './pacer.ts';

/** The members of autocannon 9.0.0's client that the driver takes hold of (its `lib/httpClient.js`). */
export interface AutocannonClient extends EventEmitter {
  conn: Socket | undefined;
  destroyed: boolean;
  /** Of a request, in ms. */
  timeout: number;
  parser: {
    finish(): void;
    reinitialize(type: string): void;
    constructor: Record<'kOnBody' | 'kOnHeadersComplete' | 'kOnMessageComplete', number> & {
      RESPONSE: string;
    };
    [callback: number]: (...args: never[]) => unknown;
  };
  pipelinedRequests: {
    addByteCount(count: number): void;
    addBody(piece: Buffer): void;
    clear(): void;
    size(): number;
  };
  requestIterator: { currentRequestIndex: number; nextRequest(): unknown };
  getRequestBuffer(): Buffer;
  _connect(): void;
  _doRequest(): void;
  _destroyConnection(): void;
}

/** Who may send: closed when the window is over or the amount is used up. */
export interface Gate {
  /** Takes the right to send one request; false when the slot has to fall silent, until `ask` is called. */
  reserve(slot: Slot, ask: () => void): boolean;
  /** Gives the right back: the request never left. */
  refund(slot: Slot): void;
  /** How long a slot that has just been answered rests before it asks again, in ms. */
  restMs(): number;
}

/**
 * Throws unless autocannon's client has the members that `harden` replaces: another version must not
 * be driven by guesswork.
 */
export function assertClient(client: AutocannonClient): void {
  const members: [string, unknown][] = [
    ['_connect', client._connect],
    ['_doRequest', client._doRequest],
    ['_destroyConnection', client._destroyConnection],
    ['parser.reinitialize', client.parser?.reinitialize],
    ['parser.finish', client.parser?.finish],
    ['pipelinedRequests.addByteCount', client.pipelinedRequests?.addByteCount],
    ['pipelinedRequests.addBody', client.pipelinedRequests?.addBody],
    ['pipelinedRequests.clear', client.pipelinedRequests?.clear],
    ['pipelinedRequests.size', client.pipelinedRequests?.size],
    ['getRequestBuffer', client.getRequestBuffer],
    ['requestIterator.nextRequest', client.requestIterator?.nextRequest],
  ];
  for (const [name, member] of members) {
    if (typeof member !== 'function')
      throw new Error(`autocannon's client has no ${name}: pin autocannon 9.0.0`);
  }
}

/**
 * Replaces what autocannon's client gets wrong about connections. It pairs answers with requests by a
 * queue that outlives the connection; here every loss of a connection settles what was under way,
 * empties the queue and starts the parser anew. Connects are paced until a connection has answered;
 * after an announced close the next request waits for a new connection instead of dying on the old.
 * Gives the function that makes a resting or silent slot ask again.
 */
export function harden(
  client: AutocannonClient,
  slot: Slot,
  ledger: Ledger,
  pacer: Pacer,
  gate: Gate,
  readTiming?: (headers: readonly string[]) => number | undefined,
  stamp?: Stamp,
): () => void {
  assertClient(client);
  const connect = client._connect.bind(client);
  const sendRequest = client._doRequest.bind(client);
  const destroyConnection = client._destroyConnection.bind(client);

  if (stamp !== undefined) {
    const bytesToSend = client.getRequestBuffer.bind(client);
    client.getRequestBuffer = () => stamp(slot, client.requestIterator.currentRequestIndex, bytesToSend());
  }

  let state: 'new' | 'waiting' | 'connecting' | 'connected' | 'reconnecting' | 'down' = 'new';
  let answered = false;
  let serverCloses = false;
  let cause: 'reset' | 'closedEarly' = 'closedEarly';
  let timedOutIdle = false;

  const connectNow = (): void => {
    if (client.destroyed || !gate.reserve(slot, ask)) {
      state = 'down';
      return;
    }
    state = 'connecting';
    ledger.begin(slot);
    answered = false;
    serverCloses = false;
    cause = 'closedEarly';
    connect();
    client.conn?.once('connect', () => {
      state = 'connected';
      ledger.send(slot);
    });
  };

  const wait = (): void => {
    state = 'waiting';
    pacer.schedule(connectNow);
  };

  const retire = (): void => {
    const { conn } = client;
    if (conn === undefined) return;
    for (const event of ['error', 'end', 'data', 'connect']) conn.removeAllListeners(event);
    conn.on('error', () => {});
    conn.destroySoon();
  };

  const reconnect = (): void => {
    if (state === 'connecting') gate.refund(slot);
    state = 'reconnecting';
    client.parser.finish();
    if (slot.pending) ledger.lose(slot, cause);
    retire();
    client.pipelinedRequests.clear();
    client.parser.reinitialize(client.parser.constructor.RESPONSE);
    if (answered) {
      connectNow();
    } else {
      pacer.retries++;
      wait();
    }
  };

  const install = (): void => {
    const { kOnBody, kOnHeadersComplete, kOnMessageComplete } = client.parser.constructor;
    const headersComplete = client.parser[kOnHeadersComplete] as (info: {
      shouldKeepAlive: boolean;
      headers: string[];
    }) => unknown;
    const messageComplete = client.parser[kOnMessageComplete] as () => unknown;
    client.parser[kOnHeadersComplete] = (info: { shouldKeepAlive: boolean; headers: string[] }) => {
      serverCloses = !info.shouldKeepAlive;
      slot.toldMs = readTiming?.(info.headers);
      return headersComplete(info);
    };
    client.parser[kOnMessageComplete] = () => {
      if (client.pipelinedRequests.size() > 0) return messageComplete();
      ledger.unsolicited++;
      return undefined;
    };
    // The first thing that it does with a piece of an answer.
    client.pipelinedRequests.addByteCount = () => ledger.arrive();
    client.parser[kOnBody] = (body: Buffer, start: number, length: number) => {
      ledger.receive(slot, body.subarray(start, start + length));
    };
    wait();
  };

  // Called by the constructor, and again on `error`, on `end` and after a timeout; the last may come
  // while a slot waits for its turn, because the client's timer runs from its construction.
  client._connect = () => {
    if (state === 'new') install();
    else if (timedOutIdle) timedOutIdle = false;
    else if (!client.destroyed && (state === 'connecting' || state === 'connected')) reconnect();
  };

  const ask = (): void => {
    if (state === 'down') {
      connectNow();
    } else if (state === 'connected' && serverCloses) {
      reconnect();
    } else if (state === 'connected' && !slot.pending && gate.reserve(slot, ask)) {
      sendRequest();
      ledger.send(slot);
    }
  };

  client._doRequest = () => {
    const restMs = gate.restMs();
    if (state === 'connecting') sendRequest();
    else if (restMs > 0) setTimeout(ask, restMs);
    else ask();
  };

  // The client's timer does not know that a slot rests: without a request there is nothing to time out.
  client._destroyConnection = () => {
    timedOutIdle = !client.destroyed && state === 'connected' && !slot.pending;
    if (timedOutIdle) return;
    if (!client.destroyed && slot.pending) ledger.lose(slot, 'timeout');
    if (client.conn !== undefined) destroyConnection();
  };

  client.on('response', (status: number, _bytes: number, milliseconds: number) => {
    answered = true;
    ledger.complete(slot, status, milliseconds);
  });

  client.on('connError', () => {
    if (state === 'connected') cause = 'reset';
    else pacer.refused++;
  });

  return ask;
}
