/** A session of the generator, as the tests of its connections open it. */
import type { AddressInfo, Server } from 'node:net';
import { fileURLToPath } from 'node:url';
import type { LoadSession } from '../src/engine.ts';
import { createFleetEngine } from '../src/fleet.ts';
import type { LoadSpec } from '../src/protocol.ts';

const GENERATOR = fileURLToPath(new URL('../src/generator.ts', import.meta.url));

/** What a test says of a load; the rest has short limits and no expected response. */
type Said = Pick<LoadSpec, 'requests' | 'connections'> & Partial<LoadSpec>;

/** Returns the load of a listening server. */
export function toSpec(server: Server, said: Said): LoadSpec {
  const { port } = server.address() as AddressInfo;
  const limits = { timeoutSeconds: 5, barrierSeconds: 5, expected: undefined, hashEvery: 1 };
  return { host: '127.0.0.1', port, ...limits, ...said };
}

/** Opens a session of one generator on a listening server. */
export function openSession(server: Server, said: Said, takesTurns = false): LoadSession {
  const engine = createFleetEngine({ name: 'autocannon', argv: [process.execPath, GENERATOR], takesTurns });
  return engine.open(toSpec(server, said), 1);
}
