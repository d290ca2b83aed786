import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import pWaitFor from 'p-wait-for';
import { describe, expect, it } from 'vitest';
import { Arrivals, createArrival, type Arrival, type LoopClocks } from '../src/arrivals.ts';

/** An event loop whose clocks move only when the test moves them. */
class Loop implements LoopClocks {
  at = 1000;
  turn = 0;
  handled = 0;
  idled = 0;
  readonly arrivals = new Arrivals(this);

  now(): number {
    return this.at;
  }
  counts() {
    return { loopCount: this.turn, events: this.handled };
  }
  idleMs(): number {
    return this.idled;
  }

  waits(ms: number): void {
    this.at += ms;
    this.idled += ms;
  }

  /** Delivers a batch of packets, each on a separate socket, with 1 ms of work each. */
  handOut(pieces: number): { from: number; by: number }[] {
    const seen = Array.from({ length: pieces }, () => this.piece());
    this.handled += pieces;
    return seen;
  }

  piece(arrival = createArrival()): { from: number; by: number } {
    this.arrivals.note(arrival);
    this.at++;
    return { from: arrival.from, by: arrival.by };
  }

  endTurn(): void {
    this.turn++;
  }
}

describe('the arrival of a response', () => {
  it('is the wake-up of the loop, for every packet that woke it', () => {
    const loop = new Loop();
    loop.waits(50);
    expect(loop.handOut(3)).toEqual(Array.from({ length: 3 }, () => ({ from: 1050, by: 1050 })));
    loop.endTurn();
    loop.waits(7);
    expect(loop.handOut(1)).toEqual([{ from: 1060, by: 1060 }]);
  });

  it('is between two polls if the loop was busy between them', () => {
    const loop = new Loop();
    loop.waits(50);
    loop.handOut(20);
    loop.endTurn();
    expect(loop.handOut(2)).toEqual(Array.from({ length: 2 }, () => ({ from: 1050, by: 1070 })));
  });

  it('is no later than the poll of its batch if libuv polls again within a turn', () => {
    const loop = new Loop();
    loop.waits(50);
    loop.handOut(1024);
    loop.endTurn();
    const [first] = loop.handOut(1024);
    const [second] = loop.handOut(1024);
    const [third] = loop.handOut(5);
    expect([first?.by, second?.by, third?.by]).toEqual([1050 + 1024, 1050 + 2 * 1024, 1050 + 3 * 1024]);
    // Only the first poll left nothing behind: each may have been ready at any time since.
    expect([first?.from, second?.from, third?.from]).toEqual([1050, 1050, 1050]);
    loop.endTurn();
    expect(loop.handOut(1)).toEqual([{ from: 1050 + 3 * 1024, by: 1050 + 3 * 1024 + 5 }]);
  });

  it('is unknown after 48 full batches, when libuv leaves some events behind', () => {
    const loop = new Loop();
    loop.waits(50);
    for (let batch = 0; batch < 48; batch++) loop.handOut(2);
    loop.endTurn();
    expect(loop.handOut(1)[0]?.from).toBe(1050);
  });

  it('is later for a second packet that is read in the same callback', () => {
    const loop = new Loop();
    loop.waits(50);
    const arrival = createArrival();
    expect(loop.piece(arrival)).toEqual({ from: 1050, by: 1050 });
    expect(loop.piece(arrival)).toEqual({ from: 1050, by: 1051 });
    expect(loop.piece(createArrival())).toEqual({ from: 1050, by: 1050 });
  });

  it('is not the wake-up if this process sent before it read', () => {
    const loop = new Loop();
    loop.waits(50);
    loop.handOut(1);
    loop.endTurn();
    loop.waits(30);
    loop.at += 5;
    loop.arrivals.work();
    expect(loop.handOut(1)).toEqual([{ from: 1050, by: 1086 }]);
  });
});

describe('the event loop of this process', () => {
  const CONNECTIONS = 1500;
  /** Answered when the first response is read, so no earlier poll can find them. */
  const LATE = 300;

  it('delivers more than 1,024 ready sockets in several batches of one turn, each with its time', async () => {
    const accepted: Socket[] = [];
    const server = createServer((socket) => accepted.push(socket));
    server.listen({ port: 0, host: '127.0.0.1', backlog: CONNECTIONS });
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const sockets = Array.from({ length: CONNECTIONS }, () => connect(port, '127.0.0.1'));
    await Promise.all(sockets.map((socket) => once(socket, 'connect')));
    await pWaitFor(() => accepted.length === CONNECTIONS);

    const arrivals = new Arrivals();
    const seen: (Arrival & { turn: number; isLate: boolean })[] = [];
    const [soon, late] = [accepted.slice(LATE), accepted.slice(0, LATE)];
    const latePorts = new Set(late.map(({ remotePort }) => remotePort));
    let turn = 0;
    let lateAt = 0;
    const all = Promise.withResolvers<void>();
    for (const socket of sockets) {
      socket.on('data', () => {
        const arrival = createArrival();
        arrivals.note(arrival);
        seen.push({ ...arrival, turn, isLate: latePorts.has(socket.localPort) });
        if (seen.length === 1) {
          lateAt = performance.now();
          for (const one of late) one.write('x');
        }
        setImmediate(() => turn++);
        if (seen.length === CONNECTIONS) all.resolve();
      });
    }
    for (const socket of soon) socket.write('x');
    await all.promise;
    for (const socket of [...sockets, ...accepted]) socket.destroy();
    server.close();

    const turns = [...Map.groupBy(seen, (one) => one.turn).values()];
    const [largest = []] = turns.toSorted((one, other) => other.length - one.length);
    expect(largest.length).toBeGreaterThan(1024);
    expect(new Set(largest.map(({ by }) => by)).size).toBeGreaterThan(1);
    expect(new Set(largest.map(({ from }) => from)).size).toBe(1);
    expect(seen.filter(({ isLate }) => isLate)).toHaveLength(LATE);
    expect(seen.filter(({ isLate, by }) => isLate && by < lateAt)).toEqual([]);
    for (const same of Map.groupBy(seen, ({ by }) => by).values()) {
      expect(same.length).toBeLessThanOrEqual(1024);
      expect(new Set(same.map((one) => one.batch)).size).toBe(1);
    }
  });
});
