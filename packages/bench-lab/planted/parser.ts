/** The parts of a request that these servers need. */
export interface Request {
  method: string;
  path: string;
  /** The client wants the connection closed after the answer. */
  close: boolean;
  bodyBytes: number;
  /** The length of head and body, in characters. */
  length: number;
}

const HEAD_LIMIT = 65_536;
const END_OF_HEAD = '\r\n\r\n';

let lastText = '';
let lastRequest: Request | undefined;

/**
 * Returns the request at the start of `text` (latin1, so that a character is a byte), or undefined if it is
 * incomplete. Throws if the text is not HTTP/1 with an optional content-length body.
 */
export function readRequest(text: string): Request | undefined {
  // A load generator sends the same bytes again and again, so they are parsed once.
  if (text === lastText) return lastRequest;
  const headEnd = text.indexOf(END_OF_HEAD);
  if (headEnd === -1) {
    if (text.length > HEAD_LIMIT) throw new Error('head too long');
    return undefined;
  }
  const head = text.slice(0, headEnd);
  const line = /^([A-Z]+) (\S+) HTTP\/1\.([01])(?:\r\n|$)/.exec(head);
  if (line === null) throw new Error('not HTTP/1');
  if (/\r\ntransfer-encoding:/i.test(head)) throw new Error('only content-length bodies are read');
  const bodyBytes = Number(/\r\ncontent-length:[ \t]*(\d+)/i.exec(head)?.[1] ?? 0);
  const length = headEnd + END_OF_HEAD.length + bodyBytes;
  if (text.length < length) return undefined;
  const connection = /\r\nconnection:[ \t]*([^\r]*)/i.exec(head)?.[1]?.toLowerCase() ?? '';
  const close = line[3] === '0' ? !connection.includes('keep-alive') : connection.includes('close');
  const [path = ''] = (line[2] ?? '').split('?');
  const request: Request = { method: line[1] ?? '', path, close, bodyBytes, length };
  if (text.length === length) {
    lastText = text;
    lastRequest = request;
  }
  return request;
}
