import { ID, haveIds } from '../catalogue/workloads/workload.ts';
import { createIds } from '../catalogue/workloads/ids.ts';
import type { Slot } from './ledger.ts';
import type { RequestSpec } from './protocol.ts';

/** What is done with a request of the cycle, by its place there, as it leaves over a slot: its bytes as they are to be sent. */
export type Stamp = (slot: Slot, request: number, bytes: Buffer) => Buffer;

/** Notes which request a slot sends, and gives it its id where it has one. Undefined where one request is sent as it is. */
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
    // What was written before may still wait for its socket.
    const stamped = Buffer.from(bytes);
    // The same in each slot: but for the id they send the same bytes.
    for (const place of (places[request] ??= findPlaces(bytes))) stamped.write(id, place, 'latin1');
    return stamped;
  };
}

function findPlaces(bytes: Buffer): number[] {
  const places: number[] = [];
  for (let at = bytes.indexOf(ID); at >= 0; at = bytes.indexOf(ID, at + ID.length)) places.push(at);
  return places;
}
