import { ID } from 'bench-targets/catalogue/workloads/workload';
import { createStamps, type Stamp } from 'bench-targets/catalogue/workloads/stamps';
import { toOrigin } from 'bench-machine/tls';
import { createBuilder } from './autocannon.ts';
import { Cycle, routesOf } from './cycle.ts';
import type { Slot } from './ledger.ts';
import { Packed } from './packed.ts';
import type { ArmOrder, RequestSpec, RouteSpec } from './protocol.ts';

/** Gives every slot its next request. */
export interface Sender {
  /** Chooses the next request of a slot, and returns its bytes. */
  take(slot: Slot): Buffer;
  /** Takes the request of a slot back: it was never sent. */
  giveBack(slot: Slot): void;
  /** Returns true if the request of a slot is a HEAD: its response has no body, whatever its head says. */
  isHead(slot: Slot): boolean;
  /** Returns true if the request of a slot asks for the end of its connection after the response. */
  closes(slot: Slot): boolean;
  /** Continues the cycle as if this many requests had been sent. */
  restart(sent: number): void;
  /** Returns how many more requests it has; infinite unless those of a route are sent once. */
  countLeft(): number;
  /** Sends other requests in place of these from now on. */
  replace(requests: readonly RequestSpec[]): void;
}

/** The part of an order that its sender needs. */
type SenderSpec = Pick<
  ArmOrder,
  'requests' | 'routes' | 'order' | 'host' | 'port' | 'tls' | 'sender' | 'skippedCycles'
>;

/** Creates the sender of one session. A request with marks gets new values in their place each time. */
export function createSender(spec: SenderSpec): Sender {
  const { requests, host, port, tls, sender } = spec;
  const cycle = new Cycle(spec, spec.skippedCycles);
  const build = createBuilder({ host: new URL(toOrigin({ host, port, tls })).host });
  const closing = requests.map((request) => /\bclose\b/i.test(connectionOf(request) ?? ''));
  const makeBytes = (request: RequestSpec): Buffer => {
    const bytes = build({ ...request });
    return connectionOf(request) === undefined ? bytes : without(bytes, KEEP_ALIVE);
  };
  const stamps = createStamps(sender);
  const writerOf = (all: readonly RequestSpec[]): Writer =>
    createWriter({ requests: all, routes: routesOf(spec) }, makeBytes, stamps);
  let write = writerOf(requests);
  return {
    take(slot) {
      slot.request = cycle.take();
      const { bytes, shape, found } = write(slot.request);
      slot.shape = shape;
      if (found.length === 0) return bytes;
      // Earlier writes may still wait for their socket.
      const stamped = Buffer.from(bytes);
      for (const { stamp, at } of found) {
        const value = stamp.next();
        // The response has to repeat it.
        if (stamp.mark === ID) slot.own = { id: value, answer: [] };
        for (const place of at) stamped.write(value, place, 'latin1');
      }
      return stamped;
    },
    giveBack: ({ request }) => cycle.giveBack(request),
    isHead: ({ request }) => requests[request]?.method === 'HEAD',
    restart: (sent) => cycle.restart(sent),
    closes: ({ request }) => closing[request] === true,
    countLeft: () => cycle.countLeft(),
    replace(others) {
      write = writerOf(others);
    },
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

/** The bytes of a request before its marks are replaced, the number of its shape, and the places of its marks. */
interface Written {
  bytes: Buffer;
  shape: number;
  found: StampPlaces;
}

type Writer = (request: number) => Written;

/** Returns a function that writes each request at its first use, and those that are sent once now. */
function createWriter(
  { requests, routes }: { requests: readonly RequestSpec[]; routes: readonly RouteSpec[] },
  makeBytes: (request: RequestSpec) => Buffer,
  stamps: readonly Stamp[],
): Writer {
  const sentOnce = routes.flatMap((route, index) =>
    route.once === true ? new Packed(requests, route, requests.length + index, makeBytes) : [],
  );
  const written: Written[] = [];
  return (request) => {
    const known = written[request];
    if (known !== undefined) return known;
    const packed = sentOnce.find((one) => one.holds(request));
    const bytes = packed?.take(request) ?? makeBytes(requests[request] as RequestSpec);
    const one = { bytes, shape: packed?.shape ?? request, found: findPlaces(bytes, stamps) };
    if (packed === undefined) written[request] = one;
    return one;
  };
}

type StampPlaces = { stamp: Stamp; at: number[] }[];

function findPlaces(bytes: Buffer, stamps: readonly Stamp[]): StampPlaces {
  return stamps.flatMap((stamp) => {
    const at: number[] = [];
    for (let place = bytes.indexOf(stamp.mark); place >= 0; place = bytes.indexOf(stamp.mark, place + 1))
      at.push(place);
    return at.length === 0 ? [] : [{ stamp, at }];
  });
}
