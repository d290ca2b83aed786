/** Bytes from one place up to another. */
interface Span {
  from: number;
  to: number;
}

/** The layout of one response: every byte is fixed, may differ, or belongs to the body. */
export interface Layout {
  status: number;
  /** The bytes of the head, with the empty line. */
  headBytes: number;
  totalBytes: number;
  /** False if the body is chunked. Only a sized body may arrive in several pieces. */
  isSized: boolean;
  /** True if it is the last response of its connection. */
  closes: boolean;
  /** The parts of the body. */
  body: Span[];
  /** The values of the headers that may differ. They hold no line break. */
  free: Span[];
  timings: Span[];
}

/** A layout with the bytes that it compares. */
interface Shape extends Layout {
  bytes: Buffer;
  /** The head in words of 4 bytes, with 0 in place of bytes that are not compared. */
  words: Int32Array;
  masks: Int32Array;
  headers: Header[];
}

interface Header {
  name: string;
  value: Span;
}

/** A response that the parser has read. */
interface ReadAnswer {
  /** Its first piece, with the whole head. */
  first: Buffer;
  bodyBytes: number;
  hasNoBody: boolean;
  /** True if it is the last of its connection. */
  closes: boolean;
}

const MOST_SHAPES = 4;
/** After this many lessons, the answers to a request vary too much to be learned. */
const MOST_LESSONS = 16;
/** Longer answers are not learned if they are chunked: their frames are compared byte by byte. */
const MOST_CHUNKED_BYTES = 16_384;
/** The headers whose values decide where a message ends, or if the connection is kept. */
const FRAMING = new Set(['connection', 'content-length', 'transfer-encoding', 'upgrade']);
/** Differs in any response, so no second answer is needed to see it. */
const ALWAYS_FREE = 'date';
const STATUS_LINE = /^HTTP\/1\.[01] (\d{3})(?: .*)?$/;
const HEADER = /^([!#$%&'*+\-.^_`|~0-9A-Za-z]+):[ \t]*(.*)$/;
const CR = 0x0d;
const LF = 0x0a;

/**
 * The shapes of correct responses, by request. A response has a known shape if its bytes are those of a response that the
 * parser has read, except for the body and for the values of headers that may differ: `Date`, and headers that have
 * differed between correct responses of the same length. Such a response needs no parser.
 */
export class Shapes {
  /** Receives every response of this process, at its beginning. */
  readonly buffer: Buffer;
  readonly #words: Int32Array;
  readonly #known: Shape[][] = [];
  readonly #lessons: number[] = [];
  readonly #mostLessons: number;

  /** `buffer` must begin at a multiple of 4 bytes. Without lessons, the parser reads every response. */
  constructor(buffer: Buffer, mostLessons = MOST_LESSONS) {
    this.buffer = buffer;
    this.#mostLessons = mostLessons;
    this.#words = new Int32Array(buffer.buffer, buffer.byteOffset, Math.floor(buffer.length / 4));
  }

  /**
   * Returns the layout of the answer to this request whose first bytes have just been received. The piece holds at least
   * the head, and nothing after the response. Undefined if the shape is not known.
   */
  find(request: number, receivedBytes: number): Layout | undefined {
    const known = this.#known[request];
    if (known === undefined) return undefined;
    for (let index = 0; index < known.length; index++) {
      const shape = known[index] as Shape;
      if (this.#fits(shape, receivedBytes)) return shape;
    }
    return undefined;
  }

  /** Returns true if the answers to this request do not vary too much to be learned. */
  learns(request: number): boolean {
    return (this.#lessons[request] ?? 0) < this.#mostLessons;
  }

  /** Learns the shape of a correct response. */
  learn(request: number, answer: ReadAnswer): void {
    this.#lessons[request] = (this.#lessons[request] ?? 0) + 1;
    const shape = readShape(answer);
    if (shape === undefined || shape.headBytes > this.buffer.length) return;
    const known = (this.#known[request] ??= []);
    for (const other of known) if (widen(other, shape)) return;
    if (known.length < MOST_SHAPES) known.push(shape);
  }

  /** Returns the headers of the current answer that report times, with names and values in turn. */
  readTimings({ timings }: Layout): string[] {
    return timings.flatMap(({ from, to }) => ['server-timing', this.buffer.toString('latin1', from, to)]);
  }

  #fits(shape: Shape, receivedBytes: number): boolean {
    const { totalBytes, headBytes, words, masks, free } = shape;
    if (receivedBytes !== totalBytes && !(shape.isSized && receivedBytes < totalBytes)) return false;
    if (receivedBytes < headBytes) return false;
    const received = this.#words;
    for (let index = 0; index < words.length; index++) {
      if (((received[index] as number) & (masks[index] as number)) !== words[index]) return false;
    }
    for (let index = 0; index < free.length; index++) {
      const { from, to } = free[index] as Span;
      if (this.#hasBreak(from, to)) return false;
    }
    return shape.isSized || this.#hasFrames(shape);
  }

  #hasBreak(from: number, to: number): boolean {
    const { buffer } = this;
    for (let at = from; at < to; at++) if (buffer[at] === CR || buffer[at] === LF) return true;
    return false;
  }

  /** Compares what is between the parts of a chunked body. */
  #hasFrames({ headBytes, totalBytes, body, bytes }: Shape): boolean {
    const { buffer } = this;
    let at = headBytes;
    for (let index = 0; index <= body.length; index++) {
      const until = body[index]?.from ?? totalBytes;
      for (; at < until; at++) if (buffer[at] !== bytes[at]) return false;
      at = body[index]?.to ?? totalBytes;
    }
    return true;
  }
}

/** Returns the shape of a response; undefined if the bytes do not agree with what the parser found. */
function readShape({ first, bodyBytes, hasNoBody, closes }: ReadAnswer): Shape | undefined {
  const end = first.indexOf('\r\n\r\n');
  if (end < 0) return undefined;
  const headBytes = end + 4;
  const [statusLine = '', ...lines] = first.toString('latin1', 0, end).split('\r\n');
  const [, status] = STATUS_LINE.exec(statusLine) ?? [];
  if (status === undefined) return undefined;
  const headers: Header[] = [];
  let at = statusLine.length + 2;
  for (const line of lines) {
    const [, name, value] = HEADER.exec(line) ?? [];
    if (name === undefined || value === undefined) return undefined;
    headers.push({
      name: name.toLowerCase(),
      value: { from: at + line.length - value.length, to: at + line.length },
    });
    at += line.length + 2;
  }
  const valuesOf = (name: string) =>
    headers
      .filter((header) => header.name === name)
      .map(({ value }) => first.toString('latin1', value.from, value.to));
  const body = findBody(first, headBytes, bodyBytes, hasNoBody, valuesOf);
  if (body === undefined) return undefined;
  const isSized = hasNoBody || valuesOf('transfer-encoding').length === 0;
  const shape: Shape = {
    status: Number(status),
    headBytes,
    totalBytes: isSized ? headBytes + bodyBytes : first.length,
    isSized,
    closes,
    body,
    free: headers.filter(({ name }) => name === ALWAYS_FREE).map(({ value }) => value),
    timings: headers.filter(({ name }) => name === 'server-timing').map(({ value }) => value),
    bytes: Buffer.from(first.subarray(0, isSized ? headBytes : first.length)),
    words: new Int32Array(Math.ceil(headBytes / 4)),
    masks: new Int32Array(Math.ceil(headBytes / 4)),
    headers,
  };
  compile(shape);
  return shape;
}

/** Returns the parts of the body in the message; undefined if its framing is not simple, or not what the parser found. */
function findBody(
  first: Buffer,
  headBytes: number,
  bodyBytes: number,
  hasNoBody: boolean,
  valuesOf: (name: string) => string[],
): Span[] | undefined {
  if (hasNoBody) return bodyBytes === 0 ? [] : undefined;
  const lengths = valuesOf('content-length');
  const codings = valuesOf('transfer-encoding');
  if (codings.length === 0 && lengths.length === 1) {
    if (!/^\d+$/.test(lengths[0] as string) || Number(lengths[0]) !== bodyBytes) return undefined;
    return bodyBytes === 0 ? [] : [{ from: headBytes, to: headBytes + bodyBytes }];
  }
  if (codings.length !== 1 || codings[0] !== 'chunked' || lengths.length > 0) return undefined;
  return first.length > MOST_CHUNKED_BYTES ? undefined : findChunks(first, headBytes, bodyBytes);
}

/** Returns the chunks of a body that ends with its piece; undefined if it has extensions or trailers. */
function findChunks(piece: Buffer, headBytes: number, bodyBytes: number): Span[] | undefined {
  const chunks: Span[] = [];
  let found = 0;
  for (let at = headBytes; ;) {
    const end = piece.indexOf('\r\n', at);
    const size = end < 0 ? '' : piece.toString('latin1', at, end);
    if (!/^[\da-f]+$/i.test(size)) return undefined;
    const from = end + 2;
    const to = from + parseInt(size, 16);
    if (piece.toString('latin1', to, to + 2) !== '\r\n') return undefined;
    if (to === from) return to + 2 === piece.length && found === bodyBytes ? chunks : undefined;
    chunks.push({ from, to });
    found += to - from;
    at = to + 2;
  }
}

function compile({ bytes, words, masks, headBytes, free }: Shape): void {
  const compared = new Uint8Array(masks.buffer).fill(0xff, 0, headBytes);
  for (const { from, to } of free) compared.fill(0, from, to);
  const fixed = new Uint8Array(words.buffer);
  for (let at = 0; at < headBytes; at++) fixed[at] = (bytes[at] as number) & (compared[at] as number);
}

/**
 * Adds the headers in which a shape differs from another to those that may differ. Returns false if the two differ in
 * more than such values.
 */
function widen(shape: Shape, other: Shape): boolean {
  const { bytes, headers, headBytes } = shape;
  if (shape.totalBytes !== other.totalBytes || headBytes !== other.headBytes) return false;
  if (shape.isSized !== other.isSized || headers.length !== other.headers.length) return false;
  const rest = Buffer.from(other.bytes);
  const differing: Span[] = [];
  for (const [index, { name, value }] of headers.entries()) {
    const same = other.headers[index] as Header;
    if (same.name !== name || same.value.from !== value.from || same.value.to !== value.to) return false;
    if (bytes.compare(rest, value.from, value.to, value.from, value.to) === 0) continue;
    if (FRAMING.has(name)) return false;
    bytes.copy(rest, value.from, value.from, value.to);
    if (!shape.free.includes(value)) differing.push(value);
  }
  if (!shape.isSized) for (const { from, to } of shape.body) bytes.copy(rest, from, from, to);
  if (!rest.equals(bytes)) return false;
  shape.free.push(...differing);
  compile(shape);
  return true;
}
