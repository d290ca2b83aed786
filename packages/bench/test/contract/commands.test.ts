import { dirname, join } from 'node:path';
import { describe, it } from 'vitest';
import { readStacks, targetsOf } from 'bench-targets/catalogue/stacks';
import type { WorkloadRequest } from 'bench-targets/catalogue/workloads/workload';
import { isListening } from 'bench-machine/ports';
import { sendRequest } from 'bench-targets/catalogue/workloads/send';
import type { Prepared } from 'bench-targets/prepare/prepare';
import { until } from '../cli/cli.ts';
import { needs, target } from '../../../bench-lab/testing/needs.ts';
import { listenersOf, loopback, openHost } from './host.ts';
import { ADD, LIST } from './users.ts';

const host = openHost();
const stacks = readStacks();

/** The response of every stack without data. */
interface Answer {
  request: WorkloadRequest;
  status: number;
  body: unknown;
}

const answer = (request: WorkloadRequest, status: number, body: unknown): Answer => ({
  request,
  status,
  body,
});

const noDatabase = { error: 'DATABASE_URL is not set' };

/** By the workload that is offered. */
const ANSWERS: Record<string, Answer> = {
  devices: answer(
    { method: 'GET', path: '/api/devices', headers: {} },
    200,
    [1, 2, 3].map((id) => ({
      id,
      uuid: `00000000-0000-4000-8000-00000000000${id}`,
      mac: `5E:00:00:00:00:0${id}`,
      firmware: `1.0.${id}`,
      created_at: '2025-01-01T00:00:00.000Z',
      updated_at: '2025-01-01T00:00:00.000Z',
    })),
  ),
  gather: answer({ method: 'GET', path: '/data', headers: {} }, 503, {
    error: 'BENCH_UPSTREAM is not set',
  }),
  users: answer(LIST, 503, noDatabase),
  'users-insert': answer(ADD, 503, noDatabase),
};

/** The default variant of each stack, and every variant with a database: they differ in their driver. */
const targets = stacks
  .flatMap((stack) => targetsOf(stack).map((wanted) => ({ wanted, stack })))
  .filter(
    ({ wanted: { variant }, stack }) =>
      variant === stack.default || stack.variants[variant]?.workloads.includes('users'),
  )
  .map(({ wanted }) => wanted);

describe('started by hand with only a port', () => {
  // Concurrent, because they start and stop for most of their time.
  describe.concurrent.each(targets)('$id', (wanted) => {
    const found = needs(target(wanted, stacks));

    it('answers on the loopback address, and stops', async ({ expect }) => {
      const ready = found.get();
      const server = await host.start({ command: typed(ready), cwd: ready.stack.root, env: {} });
      await until(() => server.attestations().length > 0, 'what it attests');
      await until(() => isListening(server.host, server.port), 'the server');
      for (const workload of ready.variant.workloads) {
        const right = ANSWERS[workload];
        if (right === undefined) continue;
        const { status, contentType, body } = await sendRequest(server, right.request);
        expect(contentType).toMatch(/^application\/json\b/);
        expect({ workload, status, body: JSON.parse(body.toString()) as unknown }).toEqual({
          workload,
          status: right.status,
          body: right.body,
        });
      }
      expect(listenersOf(server) ?? [loopback(server.port)]).toEqual([loopback(server.port)]);
      expect(await server.stop()).toMatchObject({ trouble: [] });
      expect(server.ended()).toBe('exit status 0');
    });
  });
});

/** Returns the command that a person types, with `{port}` for the port. */
function typed({ stack, target: { variant }, command: [first = ''] }: Prepared): string[] {
  const program = {
    node: [first, 'src/server.ts'],
    python: [join(dirname(first), `bench-${stack.name}`)],
    none: [first],
  };
  const chosen = variant === stack.default ? [] : ['--variant', variant];
  return [...program[stack.runtime], '--port', '{port}', ...chosen];
}
