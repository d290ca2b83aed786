/** Values that no two requests share: `{uuid}` and `{seq}`. A request holds a mark of the same length, until it is sent. */
import { randomUUID } from 'node:crypto';

/** A mark, and its next value, which has the same length and needs no encoding at any place. */
export interface Stamp {
  mark: string;
  next: () => string;
}

/** The values of the placeholders, until a request is sent. */
export const MARKS = { uuid: '00000000-6265-4e63-a800-756e69717565', seq: 8_190_246_357 };

/** Numbers of ten digits: those of the first senders fit into a signed integer of 32 bits. */
const FIRST = 1_000_000_000;
const NUMBERS = 9_000_000_000;
/** The numbers of each sender. */
const BLOCK = 10_000_000;

/** Returns the stamps of a sender. No other sender of this process gives the same values. */
export function createStamps(sender: number): Stamp[] {
  let count = 0;
  return [
    { mark: MARKS.uuid, next: () => randomUUID() },
    { mark: String(MARKS.seq), next: () => String(FIRST + (((sender - 1) * BLOCK + ++count) % NUMBERS)) },
  ];
}
