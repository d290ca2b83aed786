/**
 * Values that no two requests share: `{uuid}`, `{seq}`, and the ids by which a crossed answer is recognised. A request holds a mark
 * of the same length, until it is sent.
 */
import { randomUUID } from 'node:crypto';
import { ID } from './workload.ts';

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

let senders = 0;

/** Returns a number that no other sender in this process has. It is part of each value of this sender. */
export function nextSender(): number {
  return ++senders;
}

/** Returns the stamps of a sender. No other sender of this process gives the same values. */
export function createStamps(sender: number): Stamp[] {
  const own = `bench-${sender.toString(16).padStart(6, '0')}-`;
  let [ids, numbers] = [0, 0];
  return [
    { mark: ID, next: () => own + (++ids).toString(16).padStart(8, '0') },
    { mark: MARKS.uuid, next: () => randomUUID() },
    { mark: String(MARKS.seq), next: () => String(FIRST + (((sender - 1) * BLOCK + ++numbers) % NUMBERS)) },
  ];
}

const ANY_ID = /bench-[\da-f]{6}-[\da-f]{8}/g;

/** Returns all ids in a text, from any sender. */
export function idsIn(text: string): string[] {
  return text.match(ANY_ID) ?? [];
}
