import { dirname, join } from 'node:path';
import { describe, it } from 'vitest';
import { expandTargets, readStacks } from '../../src/catalogue/stacks.ts';
import { canonicalise, checkJson, type Draw } from '../../src/catalogue/workloads/workload.ts';
import type { Prepared } from '../../src/prepare/prepare.ts';
import { awaitRightAnswer } from '../../src/measure/verify.ts';
import { until } from '../cli/cli.ts';
import { needs, target } from '../needs.ts';
import { START_SECONDS, listenersOf, loopback, openHost } from './host.ts';

const host = openHost();
const stacks = readStacks().filter((stack) => stack.variants[stack.default]?.workloads.includes('devices'));

/** The answer of every stack without data. */
const BY_HAND = canonicalise(
  JSON.stringify(
    [1, 2, 3].map((id) => ({
      id,
      uuid: `00000000-0000-4000-8000-00000000000${id}`,
      mac: `5E:00:00:00:00:0${id}`,
      firmware: `1.0.${id}`,
      created_at: '2025-01-01T00:00:00.000Z',
      updated_at: '2025-01-01T00:00:00.000Z',
    })),
  ),
);
const draw: Draw = {
  requests: [{ method: 'GET', path: '/api/devices', headers: {} }],
  files: {},
  check: (answer) => checkJson(answer, BY_HAND),
  fixedBody: true,
};

const targets = expandTargets(
  stacks.map(({ name }) => name),
  stacks,
  'devices',
);

describe('started by hand with only a port', () => {
  // Concurrent, because they start and stop for most of their time.
  describe.concurrent.each(targets)('$stack', (wanted) => {
    const found = needs(target(wanted, stacks));

    it('answers on the loopback address, and stops', async ({ expect }) => {
      const ready = found.get();
      const server = await host.start({ command: typed(ready), cwd: ready.stack.root, env: {} });
      await awaitRightAnswer(server, draw, START_SECONDS);
      await until(() => server.attestations().length > 0, 'what it attests');
      expect(listenersOf(server) ?? [loopback(server.port)]).toEqual([loopback(server.port)]);
      expect(await server.stop()).toMatchObject({ trouble: [] });
      expect(server.ended()).toBe('exit status 0');
    });
  });
});

/** Returns the command that a person types, with `{port}` for the port. */
function typed({ stack, command: [first = ''] }: Prepared): string[] {
  const program = {
    node: [first, 'src/server.ts'],
    python: [join(dirname(first), `bench-${stack.name}`)],
    none: [first],
  };
  return [...program[stack.runtime], '--port', '{port}'];
}
