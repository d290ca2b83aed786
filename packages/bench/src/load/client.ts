import type { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import type { Sender } from './sender.ts';
import type { Ledger, Slot } from './ledger.ts';
import type { Pacer } from './pacer.ts';

/** The members of autocannon 9.0.0's client that the driver uses (its `lib/httpClient.js`). */
export interface AutocannonClient extends EventEmitter {
  conn: Socket | undefined;
  destroyed: boolean;
  /** The timeout of a request, in ms. */
  timeout: number;
  parser: {
    finish(): void;
    reinitialize(type: string): void;
    shouldKeepAlive(): boolean;
    constructor: Record<'kOnBody' | 'kOnHeadersComplete' | 'kOnMessageComplete', number> & {
      RESPONSE: string;
    };
    state: string;
    /** The received part of an incomplete line. */
    line: string;
    /** The missing bytes of a body with a known length; null without one. */
    body_bytes: number | null;
    [callback: number]: (...args: never[]) => unknown;
  };
  pipelinedRequests: {
    addByteCount(count: number): void;
    addBody(piece: Buffer): void;
    clear(): void;
    size(): number;
  };
  getRequestBuffer(): Buffer;
  _connect(): void;
  _doRequest(): void;
  _destroyConnection(): void;
}

/** The permission to send. It ends with the window or the amount. */
export interface Gate {
  /** Takes the permission to send one request; false if the slot has to pause until `ask` is called. */
  reserve(slot: Slot, ask: () => void): boolean;
  /** Returns the permission: the request was never sent. */
  refund(slot: Slot): void;
  /** The pause of a slot between an answer and its next request, in ms. */
  restMs(): number;
}

/**
 * Throws unless autocannon's client has the members that `harden` replaces, because another version may behave
 * differently.
 */
export function assertClient(client: AutocannonClient): void {
  const members: [string, unknown][] = [
    ['_connect', client._connect],
    ['_doRequest', client._doRequest],
    ['_destroyConnection', client._destroyConnection],
    ['parser.reinitialize', client.parser?.reinitialize],
    ['parser.finish', client.parser?.finish],
    ['parser.shouldKeepAlive', client.parser?.shouldKeepAlive],
    ['pipelinedRequests.addByteCount', client.pipelinedRequests?.addByteCount],
    ['pipelinedRequests.addBody', client.pipelinedRequests?.addBody],
    ['pipelinedRequests.clear', client.pipelinedRequests?.clear],
    ['pipelinedRequests.size', client.pipelinedRequests?.size],
    ['getRequestBuffer', client.getRequestBuffer],
  ];
  for (const [name, member] of members) {
    if (typeof member !== 'function')
      throw new Error(`autocannon's client has no ${name}: pin autocannon 9.0.0`);
  }
}

/** The head of a message, as autocannon's parser reports it. */
interface Head {
  statusCode: number;
  shouldKeepAlive: boolean;
  headers: string[];
}

/**
 * Corrects how autocannon's client handles connections:
 * - It pairs answers with requests by a queue that outlives the connection. Here, every lost connection settles its open
 *   requests, empties the queue and resets the parser.
 * - Connects are paced until a connection has answered.
 * - After an announced close, the next request waits for a new connection instead of failing on the old one.
 * - Interim answers (1xx) complete nothing. Answers to HEAD, 204 and 304 have no body, whatever their head says.
 * - Unsolicited answers are counted separately and not paired with the next request.
 *
 * Returns the function that makes a paused slot send again.
 */
export function harden(
  client: AutocannonClient,
  slot: Slot,
  ledger: Ledger,
  pacer: Pacer,
  gate: Gate,
  sender: Sender,
  readTiming?: (headers: readonly string[]) => number | undefined,
): () => void {
  assertClient(client);
  const connect = client._connect.bind(client);
  const sendRequest = client._doRequest.bind(client);
  const destroyConnection = client._destroyConnection.bind(client);

  client.getRequestBuffer = () => sender.take(slot);

  let state: 'new' | 'waiting' | 'connecting' | 'connected' | 'reconnecting' | 'down' = 'new';
  let answered = false;
  let serverCloses = false;
  let cause: 'reset' | 'closedEarly' = 'closedEarly';
  let timedOutIdle = false;
  /** The kind of the message that is being read. */
  let reading: 'answer' | 'interim' | 'unsolicited' = 'answer';
  /** True if a request was sent since the last piece began: no message that began in that piece answers it. */
  let hasSent = false;
  /** True if the next message began before the open request was sent. */
  let isEarly = false;
  let isFirstPiece = true;

  const send = (): void => {
    hasSent = true;
    sendRequest();
  };

  /** Called before a piece is parsed. */
  const takePiece = (): void => {
    if (isFirstPiece) {
      // It may hold the rest of a piece from the last connection.
      client.parser.reinitialize(client.parser.constructor.RESPONSE);
      isFirstPiece = false;
      isEarly = false;
    } else if (hasSent) {
      isEarly = client.parser.state !== 'RESPONSE_LINE' || client.parser.line !== '';
    }
    hasSent = false;
    ledger.arrive(slot);
  };

  /** Called with the head of a message; returns true if it has no body. */
  const takeHead = (info: Head): boolean => {
    const { statusCode: status } = info;
    if (status < 200 && status !== 101) {
      reading = 'interim';
      return true;
    }
    reading = hasSent || isEarly || client.pipelinedRequests.size() === 0 ? 'unsolicited' : 'answer';
    isEarly = false;
    const hasNoBody = status === 204 || status === 304 || sender.isHead(slot);
    if (hasNoBody) client.parser.body_bytes = 0;
    if (reading === 'answer') {
      serverCloses = !(hasNoBody ? client.parser.shouldKeepAlive() : info.shouldKeepAlive);
      slot.toldMs = readTiming?.(info.headers);
    }
    return hasNoBody;
  };

  const connectNow = (): void => {
    if (client.destroyed || !gate.reserve(slot, ask)) {
      state = 'down';
      return;
    }
    state = 'connecting';
    ledger.begin(slot);
    answered = false;
    serverCloses = false;
    isFirstPiece = true;
    cause = 'closedEarly';
    connect();
    // The body may end with this piece.
    client.conn?.prependOnceListener('end', () => ledger.arrive(slot));
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
    if (state === 'connecting') {
      gate.refund(slot);
      sender.giveBack(slot);
    }
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
    const headersComplete = client.parser[kOnHeadersComplete] as (info: Head) => unknown;
    const messageComplete = client.parser[kOnMessageComplete] as () => unknown;
    client.parser[kOnHeadersComplete] = (info: Head) => {
      const hasNoBody = takeHead(info);
      if (reading === 'answer') headersComplete(info);
      return hasNoBody;
    };
    client.parser[kOnMessageComplete] = () => {
      if (reading === 'answer') return messageComplete();
      if (reading === 'unsolicited') ledger.unsolicited++;
      return undefined;
    };
    // The client calls this first for each piece of an answer.
    client.pipelinedRequests.addByteCount = takePiece;
    client.parser[kOnBody] = (body: Buffer, start: number, length: number) => {
      if (reading === 'answer') ledger.receive(slot, body.subarray(start, start + length));
    };
    wait();
  };

  // Called by the constructor, on `error`, on `end` and after a timeout. The timeout can occur
  // while a slot waits for its turn, because the client starts its timer when it is constructed.
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
      send();
      ledger.send(slot);
    }
  };

  client._doRequest = () => {
    const restMs = gate.restMs();
    if (state === 'connecting') send();
    else if (restMs > 0) setTimeout(ask, restMs);
    else ask();
  };

  // The client's timer also runs while a slot pauses: without a request, there is nothing to time out.
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
