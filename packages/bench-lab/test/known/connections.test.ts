import { describe, expect, it } from 'vitest';
import { socketsOf } from 'bench-machine/procfs';
import { listConnectionsTo } from './established.ts';
import {
  ASKED,
  ASKED_BEFORE,
  accountOf,
  loadOf,
  medianOf,
  openBothWays,
  reasonOf,
  reasonsOf,
  sumOf,
  type Seen,
} from './rig.ts';

const { rig, ways } = openBothWays();

const SOUND = ['--sound-first', String(ASKED_BEFORE)];
const AMOUNT = 60;
const LOAD = ['--connections', '10', '--amount', String(AMOUNT)];
/** Long compared with a pause of a busy machine. */
const DELAY_MS = 200;
const DELAY = ['--delay-ms', String(DELAY_MS)];

/** Expects that the client timed one try of each request: two take twice as long. */
function expectOneTry(seen: Seen): void {
  expect(medianOf(seen)).toBeGreaterThanOrEqual(DELAY_MS * 1000);
  expect(medianOf(seen)).toBeLessThan(1.75 * Number(accountOf(seen).latencyUs.p50));
}

// The parser reads every response that announces the close.
describe('a server that announces its close after each response', () => {
  it.each([
    ['with connection: close', ['--close-after-response']],
    ['over HTTP/1.0', ['--http10']],
  ])('%s loses no request, and gets one connection per request', async (_, how) => {
    const seen = await rig.measure({ planted: [...how, ...DELAY], bench: LOAD });
    const { counts, lifetime, opened } = loadOf(seen);
    const { requests, connections } = accountOf(seen);
    expect(counts).toMatchObject({ sent: AMOUNT, ok: AMOUNT });
    expect(opened).toMatchObject({ count: AMOUNT });
    expect(requests.answered.ok).toBe(lifetime.ok + ASKED);
    expect(requests.late).toBe(0);
    expect(connections.accepted).toBe(lifetime.sent + ASKED);
    expectOneTry(seen);
    expect(reasonsOf(seen)).toEqual([]);
  });

  it('is counted exactly, with the request that waits for a connection when the window ends', async () => {
    const seen = await rig.measure({
      planted: ['--close-after-response', '--delay-ms', '5'],
      bench: ['--connections', '4', '--duration', '0.5'],
      plan: { generators: 2 },
    });
    const { counts, lifetime } = loadOf(seen);
    expect(sumOf(counts)).toBe(counts.sent);
    expect(accountOf(seen).requests.read).toBe(lifetime.sent + ASKED);
    expect(accountOf(seen).connections.accepted).toBe(lifetime.sent + ASKED);
    expect(reasonsOf(seen)).toEqual([]);
  });
});

describe('--new-connections', () => {
  it('opens one for each request to a server that would keep them, and times the connects', async () => {
    const kept = await rig.measure({ planted: DELAY, bench: LOAD });
    expect(loadOf(kept).opened).toEqual({ count: 0 });
    const seen = await rig.measure({ planted: DELAY, bench: [...LOAD, '--new-connections'] });
    const { counts, lifetime, opened } = loadOf(seen);
    const { connections } = accountOf(seen);
    expect(counts).toMatchObject({ sent: AMOUNT, ok: AMOUNT });
    expect(connections.accepted).toBe(lifetime.sent + ASKED);
    expect(opened).toMatchObject({ count: AMOUNT });
    // The server waits before it answers, not before it accepts.
    expect(opened?.connectUs?.p50).toBeLessThan(1000 * DELAY_MS);
    expectOneTry(seen);
    expect(reasonsOf(seen)).toEqual([]);
  });
});

describe.each(ways)('a server that closes silently after each response, read $way', ({ rig: reader }) => {
  it('loses only the requests that came too late', async () => {
    const seen = await reader.measure({ planted: ['--close-silently', ...DELAY], bench: LOAD });
    const { counts, lifetime, idleCloses } = loadOf(seen);
    const { requests, connections } = accountOf(seen);
    // A request that a busy machine holds back for 100 ms seems to meet the close of an idle connection.
    const sentAgain = idleCloses?.sentAgain ?? 0;
    expect(counts.sent).toBe(AMOUNT);
    expect(sumOf(counts)).toBe(counts.sent);
    expect(counts.closedEarly).toBeGreaterThan(0);
    expect(requests.read).toBe(lifetime.sent + sentAgain + ASKED);
    expect(requests.answered.ok).toBe(lifetime.ok + ASKED);
    expect(requests.late).toBe(lifetime.closedEarly + sentAgain);
    // A connection may be established when the last request has just gone to another.
    const unused = connections.accepted - (lifetime.ok + ASKED);
    expect(unused).toBeGreaterThanOrEqual(0);
    expect(unused).toBeLessThan(10);
    expectOneTry(seen);
    expect(reasonsOf(seen)).toContain('errors');
    expect(reasonsOf(seen)).not.toContain('pairing');
  });
});

describe('a server that accepts and closes', () => {
  it('fails, and its errors are counted', async () => {
    const seen = await rig.measure({
      planted: [...SOUND, '--accept-and-close'],
      bench: ['--connections', '10', '--duration', '0.5'],
      plan: { barrierSeconds: 0.5 },
    });
    const { counts, lifetime, connect, latencyUs } = loadOf(seen);
    const { requests, connections } = accountOf(seen);
    expect(seen.trial.status).toBe('failed');
    expect(connect).toMatchObject({ planned: 10, established: 0 });
    expect(counts.closedEarly).toBeGreaterThan(0);
    expect(counts).toMatchObject({ ok: 0, sent: sumOf(counts) });
    expect(latencyUs).toBeUndefined();
    // The verification after the load is the last connection that is closed.
    expect(connections.closedAtAccept).toBe(lifetime.sent + 1);
    expect(requests.late).toBe(lifetime.closedEarly + 1);
    expect(reasonsOf(seen)).toEqual(expect.arrayContaining(['trial', 'no-answers', 'errors']));
    expect(reasonOf(seen, 'trial').text).toMatch(/after the load/);
  });
});

describe('the barrier', () => {
  it('lets a server be measured that answers only some connections, and says how many', async () => {
    const seen = await rig.measure({
      planted: [...SOUND, '--serve-only', '4'],
      bench: ['--connections', '10', '--duration', '0.3', '--timeout', '4'],
      // The connections that are served have to be established by then.
      plan: { barrierSeconds: 1.5 },
    });
    const { connect, silentConnections, counts, lifetime } = loadOf(seen);
    const { connections, requests } = accountOf(seen);
    expect(connect).toMatchObject({ planned: 10, established: 4, refused: 0 });
    expect(silentConnections).toBe(6);
    expect(counts.inFlight).toBeGreaterThanOrEqual(6);
    expect(connections).toMatchObject({ accepted: 10 + ASKED, unserved: 6 });
    expect(requests.answered.ok).toBe(lifetime.ok + ASKED);
    expect(lifetime.timeout + lifetime.inFlight).toBe(6);
    // That it serves only some of them is what its user came for.
    expect(seen.trial.status).not.toBe('failed');
    // Their requests are never answered either; the share depends on the pace of the machine.
    expect(reasonsOf(seen).filter((code) => code !== 'unanswered')).toEqual([]);
    expect(reasonOf(seen, 'connections')).toMatchObject({
      text: expect.stringMatching(
        /^4 of 10 connections were established .* 6 without a response; 4 of 10 connections were served: 6 got no response/,
      ) as string,
      invalidates: [],
    });
  });
});

describe('connections over four generators', () => {
  it('are divided exactly, and the reports are merged', async () => {
    const shares: number[] = [];
    const seen = await rig.measure({
      planted: ['--delay-ms', '5'],
      bench: ['--connections', '10', '--duration', '1.5'],
      plan: { generators: 4 },
      wrap: (effects) => ({
        ...effects,
        async resources(server) {
          const sampler = await effects.resources(server, []);
          if (sampler === undefined) return undefined;
          return {
            idle: () => sampler.idle(),
            async start(ours) {
              shares.push(...ours.map((pid) => countHeld(pid, server.port)));
              return sampler.start(ours);
            },
            stop: () => sampler.stop(),
            [Symbol.dispose]: () => sampler[Symbol.dispose](),
          };
        },
      }),
    });
    const { connect, counts, lifetime, generators } = loadOf(seen);
    const { requests, connections } = accountOf(seen);
    expect(shares).toEqual(process.platform === 'linux' ? [3, 3, 2, 2] : [0, 0, 0, 0]);
    expect(generators).toHaveLength(4);
    expect(connect).toMatchObject({ planned: 10, established: 10 });
    expect(connections.accepted).toBe(10 + ASKED);
    expect(sumOf(counts)).toBe(counts.sent);
    expect(requests.read).toBe(lifetime.sent + ASKED);
    expect(reasonsOf(seen)).toEqual([]);
  });

  it('need no more generators than there are connections', async () => {
    const seen = await rig.measure({
      planted: [],
      bench: ['--connections', '2', '--amount', '103'],
      plan: { generators: 4 },
    });
    expect(loadOf(seen).generators).toHaveLength(2);
    expect(loadOf(seen).counts).toMatchObject({ sent: 103, ok: 103 });
    expect(accountOf(seen).connections.accepted).toBe(2 + ASKED);
  });
});

/** The number of established connections to a local port that a process holds; 0 where `/proc` does not show them. */
function countHeld(pid: number, port: number): number {
  const opened = new Set(listConnectionsTo(port).map(({ inode }) => inode));
  return socketsOf(pid).filter((inode) => opened.has(inode)).length;
}
