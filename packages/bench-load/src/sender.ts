import { ID, haveIds } from 'bench-targets/catalogue/workloads/workload';
import { createIds } from 'bench-targets/catalogue/workloads/ids';
import { toAuthority } from 'bench-machine/ports';
import { createBuilder } from './autocannon.ts';
import { Cycle } from './cycle.ts';
import type { Slot } from './ledger.ts';
import type { ArmOrder, RequestSpec } from './protocol.ts';

/** Gives every slot its next request. */
export interface Sender {
  /** Chooses the next request of a slot, and returns its bytes. */
  take(slot: Slot): Buffer;
  /** Takes the request of a slot back: it was never sent. */
  giveBack(slot: Slot): void;
  /** Returns true if the request of a slot is a HEAD: its answer has no body, whatever its head says. */
  isHead(slot: Slot): boolean;
  /** Returns true if the request of a slot asks for the end of its connection after the answer. */
  closes(slot: Slot): boolean;
  /** Continues the cycle as if this many requests had been sent. */
  restart(sent: number): void;
}

/** Creates the sender of one session. A request that carries an id gets a unique one each time. */
export function createSender({
  requests,
  routes,
  order,
  host,
  port,
  sender,
  skippedCycles,
}: Pick<ArmOrder, 'requests' | 'routes' | 'order' | 'host' | 'port' | 'sender' | 'skippedCycles'>): Sender {
  const cycle = new Cycle({ requests, routes, order }, skippedCycles);
  const build = createBuilder({ host: new URL(`http://${toAuthority({ host, port })}`).host });
  const closing = requests.map((request) => /\bclose\b/i.test(connectionOf(request) ?? ''));
  const makeBytes = (request: RequestSpec): Buffer => {
    const bytes = build({ ...request });
    return connectionOf(request) === undefined ? bytes : without(bytes, KEEP_ALIVE);
  };
  const nextId = haveIds(requests) ? createIds(sender) : undefined;
  const built: Buffer[] = [];
  const places: number[][] = [];
  return {
    take(slot) {
      const request = cycle.take();
      slot.request = request;
      const bytes = (built[request] ??= makeBytes(requests[request] as RequestSpec));
      if (nextId === undefined) return bytes;
      const id = nextId();
      slot.own = { id, answer: [] };
      // Earlier writes may still wait for their socket.
      const stamped = Buffer.from(bytes);
      for (const place of (places[request] ??= findPlaces(bytes))) stamped.write(id, place, 'latin1');
      return stamped;
    },
    giveBack: ({ request }) => cycle.giveBack(request),
    isHead: ({ request }) => requests[request]?.method === 'HEAD',
    closes: ({ request }) => closing[request] === true,
    restart: (sent) => cycle.restart(sent),
  };
}

/** The line that autocannon writes into every request. */
const KEEP_ALIVE = 'Connection: keep-alive\r\n';

function connectionOf({ headers }: RequestSpec): string | undefined {
  return Object.entries(headers).find(([name]) => name.toLowerCase() === 'connection')?.[1];
}

/** Returns bytes without the first occurrence of a text. */
function without(bytes: Buffer, text: string): Buffer {
  const at = bytes.indexOf(text);
  return Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + text.length)]);
}

function findPlaces(bytes: Buffer): number[] {
  const places: number[] = [];
  for (let at = bytes.indexOf(ID); at >= 0; at = bytes.indexOf(ID, at + ID.length)) places.push(at);
  return places;
}
