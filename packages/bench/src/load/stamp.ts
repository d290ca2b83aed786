import { ID, haveIds } from '../catalogue/workloads/workload.ts';
import { createIds } from '../catalogue/workloads/ids.ts';
import type { Slot } from './ledger.ts';
import type { RequestSpec } from './protocol.ts';

/** Returns the bytes of a request, by its index in the cycle, as a slot sends it. */
export type Stamp = (slot: Slot, request: number, bytes: Buffer) => Buffer;

/** Records the request that a slot sends, and inserts its id if it has one. Undefined if a single request is sent unchanged. */
export function createStamp(requests: RequestSpec[], sender: number): Stamp | undefined {
  if (!haveIds(requests)) {
    if (requests.length === 1) return undefined;
    return (slot, request, bytes) => {
      slot.request = request;
      return bytes;
    };
  }
  const nextId = createIds(sender);
  const places: number[][] = [];
  return (slot, request, bytes) => {
    const id = nextId();
    slot.request = request;
    slot.own = { id, answer: [] };
    // Earlier writes may still wait for their socket.
    const stamped = Buffer.from(bytes);
    // The same in each slot: all send the same bytes except for the id.
    for (const place of (places[request] ??= findPlaces(bytes))) stamped.write(id, place, 'latin1');
    return stamped;
  };
}

function findPlaces(bytes: Buffer): number[] {
  const places: number[] = [];
  for (let at = bytes.indexOf(ID); at >= 0; at = bytes.indexOf(ID, at + ID.length)) places.push(at);
  return places;
}
