/** A session of the generator, as the tests of its connections open it. */
import type { AddressInfo, Server } from 'node:net';
import { fileURLToPath } from 'node:url';
import type { LoadSession } from '../src/engine.ts';
import { createFleetEngine } from '../src/fleet.ts';
import type { LoadSpec } from '../src/protocol.ts';

const GENERATOR = fileURLToPath(new URL('../src/generator.ts', import.meta.url));

/** Opens a session of one generator on a listening server. What `spec` leaves open has short limits and no expected answer. */
export function openSession(
  server: Server,
  spec: Pick<LoadSpec, 'requests' | 'connections'> & Partial<LoadSpec>,
): LoadSession {
  const engine = createFleetEngine({ name: 'autocannon', argv: [process.execPath, GENERATOR] });
  const { port } = server.address() as AddressInfo;
  const limits = { timeoutSeconds: 5, barrierSeconds: 5, expected: undefined, hashEvery: 1 };
  return engine.open({ host: '127.0.0.1', port, ...limits, ...spec }, 1);
}
