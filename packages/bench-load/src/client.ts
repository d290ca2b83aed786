import { connect, type Socket } from 'node:net';
import type { ConnectionOptions } from 'node:tls';
import type { AutocannonClient } from './autocannon.ts';
import type { Sender } from './sender.ts';
import type { Ledger, Slot } from './ledger.ts';
import type { Pacer } from './pacer.ts';
import type { Layout, Shapes } from './shapes.ts';

/** The encoding of a buffer, as streams name it. Its type lacks this name. */
const AS_BYTES = 'buffer' as BufferEncoding;

/** A server that closes a connection after this silence, in ms, closes it because it is idle. No request waits so long unless there are none. */
const IDLE_MS = 100;

/** The permission to send. It ends with the window or the amount. */
export interface Gate {
  /** Takes the permission to send one request; false if the slot has to pause until `ask` is called. */
  reserve(slot: Slot, ask: () => void): boolean;
  /** Returns the permission of a request whose connect failed, and true; under load returns false, because the request has failed. */
  refund(slot: Slot): boolean;
  /** The pause of a slot between a response and its next request, in ms. */
  restMs(): number;
}

/** The head of a message, as autocannon's parser reports it. */
interface Head {
  statusCode: number;
  shouldKeepAlive: boolean;
  headers: string[];
}

/** The parts of a session that every client uses. */
export interface ConnectionContext {
  ledger: Ledger;
  pacer: Pacer;
  gate: Gate;
  sender: Sender;
  shapes: Shapes;
  /** The options of TLS, with one context for all connections; undefined for plain HTTP. */
  tls?: ConnectionOptions | undefined;
  /** Reads the time that a response reports, in ms. */
  readTiming?: ((headers: readonly string[]) => number | undefined) | undefined;
}

/** The first piece of a response, from which its shape is learned if it is right. */
interface Lesson {
  shape: number;
  first: Buffer;
  hasNoBody: boolean;
  closes: boolean;
}

/**
 * Runs the connection of a client of autocannon, and corrects what the client does with it:
 * - It pairs answers with requests by a queue that outlives the connection. Here, a client has at most one open request,
 *   and every lost connection settles it and resets the parser.
 * - Connects are paced until a connection has answered. One that fails is repeated before the load, and under load its
 *   request has failed.
 * - After an announced close, the next request waits for a new connection instead of failing on the old one.
 * - A request that meets a connection which the server closes because it was idle is sent again on a new one, as browsers
 *   and connection pools do. It is the same request: it is sent once, and its latency counts from the first time.
 * - Interim answers (1xx) complete nothing. Answers to HEAD, 204 and 304 have no body, whatever their head says.
 * - Unsolicited responses are counted separately and not paired with the next request.
 * - All sockets read into one buffer. A response of a known shape is accounted for from its bytes; the parser reads all
 *   others.
 *
 * Returns the function that makes a paused slot send again.
 */
export function runConnection(client: AutocannonClient, slot: Slot, context: ConnectionContext): () => void {
  const { ledger, pacer, gate, sender, shapes, readTiming, tls } = context;
  const { buffer } = shapes;
  const { parser } = client;
  const sendRequest = client._doRequest.bind(client);
  const destroyConnection = client._destroyConnection.bind(client);

  /** True from the end of an idle connection until the request that met it is on a new one. */
  let isAgain = false;
  let taken: Buffer | undefined;
  client.getRequestBuffer = () => {
    if (!isAgain || taken === undefined) taken = sender.take(slot);
    return taken;
  };
  client.pipelinedRequests = {
    insertRequest: () => {
      if (!isAgain) slot.sentAt = performance.now();
    },
    clear: () => {},
  };
  client.requestIterator.nextRequest = () => undefined;

  let state: 'new' | 'waiting' | 'connecting' | 'connected' | 'reconnecting' | 'down' = 'new';
  /** The connection whose bytes count. */
  let current: Socket | undefined;
  let answered = false;
  /** The time of the last answer on the connection. */
  let answeredAt = 0;
  /** True if this response is the last of its connection. */
  let closes = false;
  let cause: 'timeout' | 'reset' | 'closedEarly' = 'closedEarly';
  let timedOutIdle = false;
  /** The kind of the message that is being read. */
  let reading: 'answer' | 'interim' | 'unsolicited' = 'answer';
  /** True while a sent request has no complete response. */
  let isOpen = false;
  /** True if a request was sent since the last piece began: no message that began in that piece answers it. */
  let hasSent = false;
  /** True if the next message began before the open request was sent. */
  let isEarly = false;
  let isFirstPiece = true;
  /** True if the parser waits for a message. */
  let isBetween = true;
  /** The status of the response that the parser reads. */
  let status = 0;
  /** The response of a known shape whose body is not complete, and its missing bytes. */
  let partial: Layout | undefined;
  let missing = 0;
  /** The piece that the parser reads, if a message begins with it. */
  let beginning: Buffer | undefined;
  let lesson: Lesson | undefined;

  const send = (): void => {
    hasSent = true;
    isOpen = true;
    sendRequest();
  };

  /** Has the parser read bytes of the shared buffer. */
  const parse = (from: number, to: number): void => {
    parser.execute(buffer.subarray(from, to));
    isBetween = parser.state === 'RESPONSE_LINE' && parser.line === '' && !parser.hadError;
  };

  const resetParser = (): void => {
    parser.reinitialize(parser.constructor.RESPONSE);
    isBetween = true;
  };

  /** Records that the open request is answered. */
  const finish = (answer: number): void => {
    const now = performance.now();
    isOpen = false;
    answered = true;
    answeredAt = now;
    const outcome = ledger.complete(slot, answer, now - slot.sentAt, now);
    if (lesson !== undefined) {
      const { shape, ...piece } = lesson;
      lesson = undefined;
      if (outcome === 'ok') shapes.learn(shape, { ...piece, bodyBytes: slot.bodyBytes });
    }
    client._doRequest();
  };

  /** Takes the bytes that have just been read into the shared buffer. */
  const take = (length: number): void => {
    ledger.arrive(slot);
    if (partial !== undefined) {
      takeRest(partial, length);
      return;
    }
    if (isFirstPiece) {
      // It may hold the rest of a piece from the last connection.
      resetParser();
      isFirstPiece = false;
      isEarly = false;
    } else if (hasSent) {
      // In a body, the message is already known for what it is.
      isEarly =
        !isBetween && (parser.state === 'HEADER' || (parser.state === 'RESPONSE_LINE' && parser.line !== ''));
    }
    hasSent = false;
    if (isOpen && !isEarly && isBetween) {
      const layout = shapes.find(slot.shape, length);
      if (layout !== undefined) {
        takeKnown(layout, length);
        return;
      }
      beginning = buffer.subarray(0, length);
    }
    parse(0, length);
    beginning = undefined;
  };

  /** Takes the first piece of a response of a known shape. */
  const takeKnown = (layout: Layout, length: number): void => {
    const { body } = layout;
    closes = layout.closes || sender.closes(slot);
    if (readTiming !== undefined) slot.toldMs = readTiming(shapes.readTimings(layout));
    for (let index = 0; index < body.length; index++) {
      const { from, to } = body[index] as Layout['body'][number];
      if (from < length) ledger.receive(slot, buffer, from, Math.min(to, length));
    }
    missing = layout.totalBytes - length;
    if (missing > 0) partial = layout;
    else finish(layout.status);
  };

  /** Takes another piece of the response; what follows it goes to the parser. */
  const takeRest = (layout: Layout, length: number): void => {
    const end = Math.min(length, missing);
    hasSent = false;
    ledger.receive(slot, buffer, 0, end);
    missing -= end;
    if (missing > 0) return;
    partial = undefined;
    finish(layout.status);
    if (end < length) parse(end, length);
  };

  /** Called with the head of a message; returns true if it has no body. */
  const takeHead = (info: Head): boolean => {
    const { statusCode } = info;
    if (statusCode < 200 && statusCode !== 101) {
      reading = 'interim';
      beginning = undefined;
      return true;
    }
    reading = hasSent || isEarly || !isOpen ? 'unsolicited' : 'answer';
    isEarly = false;
    const hasNoBody = statusCode === 204 || statusCode === 304 || sender.isHead(slot);
    if (hasNoBody) parser.body_bytes = 0;
    if (reading === 'answer') {
      status = statusCode;
      // After 101, the connection no longer speaks HTTP.
      const isKept = statusCode !== 101 && (hasNoBody ? parser.shouldKeepAlive() : info.shouldKeepAlive);
      closes = sender.closes(slot) || !isKept;
      slot.toldMs = readTiming?.(info.headers);
      if (beginning !== undefined && shapes.learns(slot.shape))
        lesson = { shape: slot.shape, first: Buffer.from(beginning), hasNoBody, closes: !isKept };
    }
    beginning = undefined;
    return hasNoBody;
  };

  const open = (): void => {
    const { hostname: host, port } = client.opts;
    const begunAt = performance.now();
    const options = {
      host,
      port,
      ...(slot.source === undefined ? {} : { localAddress: slot.source }),
      onread: {
        buffer,
        callback: (length: number) => {
          if (conn === current) take(length);
          return true;
        },
      },
    };
    const conn =
      tls === undefined
        ? connect(options)
        : process.getBuiltinModule('node:tls').connect({ ...options, ...tls });
    // A connection has at most one open request, so nothing queues up in its stream: half the cost of a write is saved. Over
    // TLS, a response may come before its request is reported as written, and Node aborts on a second write.
    const fail = (error?: Error | null): void => {
      if (error) conn.destroy(error);
    };
    /** The request that waits for the connection. */
    let first: Uint8Array | string | undefined;
    if (tls === undefined) {
      conn.write = (bytes: Uint8Array | string) => {
        if (conn.connecting) first = bytes;
        else conn._write(bytes, AS_BYTES, fail);
        return true;
      };
    }
    current = conn;
    client.conn = conn;
    conn.on('end', () => {
      if (conn !== current) return;
      // The body may end with this piece.
      ledger.arrive(slot);
      client._connect();
    });
    conn.on('error', (error) => {
      if (conn !== current) return;
      client.emit('connError', error);
      client._connect();
    });
    conn.on(tls === undefined ? 'connect' : 'secureConnect', () => {
      if (conn !== current) return;
      state = 'connected';
      if (first !== undefined) conn._write(first, AS_BYTES, fail);
      if (tls !== undefined && conn instanceof process.getBuiltinModule('node:tls').TLSSocket)
        ledger.tls ??= {
          protocol: conn.getProtocol() ?? 'unknown',
          cipher: conn.getCipher().standardName,
        };
      ledger.connect(performance.now() - begunAt);
      if (isAgain) isAgain = false;
      else ledger.send(slot);
      ledger.work();
    });
    client._doRequest();
  };

  const connectNow = (): void => {
    if (client.destroyed || !(isAgain || gate.reserve(slot, resume))) {
      state = 'down';
      return;
    }
    state = 'connecting';
    if (!isAgain) ledger.begin(slot);
    answered = false;
    closes = false;
    isFirstPiece = true;
    cause = 'closedEarly';
    open();
  };

  const wait = (): void => {
    state = 'waiting';
    pacer.schedule(connectNow);
  };

  const retire = (): void => {
    const conn = current;
    current = undefined;
    partial = undefined;
    lesson = undefined;
    isOpen = false;
    if (conn === undefined) return;
    // TLS says that it closes; without it, that costs as much as a request.
    if (tls === undefined) conn.destroy();
    else conn.destroySoon();
  };

  /** The time for which the connection was silent, in ms, if the server has closed it for that; otherwise undefined. */
  const findIdle = (): number | undefined => {
    if (state !== 'connected' || !answered || closes) return undefined;
    // After the first byte of a response, the server has taken the request.
    if (slot.pending && !hasSent) return undefined;
    const idleMs = (slot.pending ? slot.sentAt : performance.now()) - answeredAt;
    return idleMs >= IDLE_MS ? idleMs : undefined;
  };

  const reconnect = (): void => {
    // The request of a new connection was not sent, unless it was sent before.
    if (state === 'connecting' && !isAgain) {
      if (gate.refund(slot)) sender.giveBack(slot);
      else ledger.send(slot);
    }
    const idleMs = findIdle();
    isAgain = idleMs !== undefined && slot.pending;
    if (idleMs !== undefined) ledger.closeIdle(idleMs, isAgain);
    state = 'reconnecting';
    // The end of the connection may be the end of the body.
    if (parser.state === 'BODY_RAW') parser.finish();
    if (slot.pending && !isAgain) ledger.lose(slot, cause);
    retire();
    resetParser();
    if (answered) {
      connectNow();
    } else {
      pacer.retries++;
      wait();
    }
  };

  const install = (): void => {
    const { kOnBody, kOnHeadersComplete, kOnMessageComplete } = parser.constructor;
    parser[kOnHeadersComplete] = takeHead;
    parser[kOnMessageComplete] = () => {
      if (reading === 'answer') finish(status);
      else if (reading === 'unsolicited') ledger.unsolicited++;
    };
    parser[kOnBody] = (body: Buffer, start: number, length: number) => {
      if (reading === 'answer') ledger.receive(slot, body, start, start + length);
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
    } else if (state === 'connected' && closes) {
      reconnect();
    } else if (state === 'connected' && !slot.pending && gate.reserve(slot, resume)) {
      send();
      ledger.send(slot);
    }
  };

  /** Sends outside a delivery. */
  const resume = (): void => {
    ask();
    ledger.work();
  };

  client._doRequest = () => {
    const restMs = gate.restMs();
    if (state === 'connecting') send();
    else if (restMs > 0) setTimeout(resume, restMs);
    else ask();
  };

  // The client's timer also runs while a slot pauses: without a request, there is nothing to time out.
  client._destroyConnection = () => {
    timedOutIdle = !client.destroyed && state === 'connected' && !slot.pending;
    if (timedOutIdle) return;
    cause = 'timeout';
    if (!client.destroyed && slot.pending) {
      ledger.lose(slot, 'timeout');
      // The client closes the connection, not the server.
      closes = true;
    }
    if (client.conn !== undefined) destroyConnection();
  };

  client.on('connError', () => {
    cause = 'reset';
    if (state !== 'connected') pacer.refused++;
  });

  return resume;
}
