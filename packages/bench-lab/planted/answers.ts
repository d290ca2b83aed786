import { readFileSync } from 'node:fs';
import type { Answer } from './account.ts';

type Device = Record<string, unknown>;
/** The framing of an answer: by its length, by its length with `connection: close`, or by the end of the connection. */
export type Framing = 'keep-alive' | 'close' | 'http10';

const BY_HAND: Device[] = [1, 2, 3].map((id) => ({
  id,
  uuid: `00000000-0000-4000-8000-00000000000${id}`,
  mac: `5E:00:00:00:00:0${id}`,
  firmware: `1.0.${id}`,
  created_at: '2025-01-01T00:00:00.000Z',
  updated_at: '2025-01-01T00:00:00.000Z',
}));

/** Returns the bytes of every answer, right and wrong. */
export function prepareAnswers(framing: Framing): Record<Answer, Buffer> {
  const file = process.env['BENCH_DEVICES'];
  const devices: Device[] = file === undefined ? BY_HAND : JSON.parse(readFileSync(file, 'utf8'));
  const right = JSON.stringify(devices);
  return {
    ok: frame('200 OK', right, framing),
    wrongBody: frame('200 OK', alter(right), framing),
    wrongLength: frame('200 OK', JSON.stringify([...devices, { id: 0 }]), framing),
    status500: frame('500 Internal Server Error', '{"error":"planted"}', framing),
    notFound: frame('404 Not Found', '{"error":"not found"}', framing),
  };
}

/** Returns another JSON text of the same length: one digit differs, or it is an empty object if there is no digit. */
function alter(text: string): string {
  const altered = text.replace(/\d(?=\D*$)/, (digit) => (digit === '9' ? '8' : String(Number(digit) + 1)));
  return altered === text ? `{${' '.repeat(Buffer.byteLength(text) - 2)}}` : altered;
}

function frame(status: string, body: string, framing: Framing): Buffer {
  const head = [
    `HTTP/1.${framing === 'http10' ? 0 : 1} ${status}`,
    'content-type: application/json',
    ...(framing === 'http10' ? [] : [`content-length: ${Buffer.byteLength(body)}`]),
    ...(framing === 'close' ? ['connection: close'] : []),
  ];
  return Buffer.from(`${head.join('\r\n')}\r\n\r\n${body}`);
}
