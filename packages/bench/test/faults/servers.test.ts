import { globSync } from 'node:fs';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';
import { describe, it, type ExpectStatic } from 'vitest';
import { readManifest } from 'bench-targets/catalogue/manifest';
import { isListening } from 'bench-machine/ports';
import { environHas, listPids } from 'bench-machine/procfs';
import type { Server } from 'bench-machine/launch';
import type { Draw } from 'bench-targets/catalogue/workloads/workload';
import { verify } from '../../src/measure/verify.ts';
import { openRig, reasonOf, reasonsOf } from '../../../bench-lab/test/known/rig.ts';
import { FROM, LOAD, LOADS, SERVER_CASES, type ServerCase } from './servers.ts';

const rig = openRig();
const stack = readManifest(
  fileURLToPath(new URL('../../../bench-lab/planted/unruly/stack.json', import.meta.url)),
);

/** The longest time to a response, in seconds: a check must not wait longer. */
const ANSWER_SECONDS = 8;
/** The time for a server that never answers. */
const START_SECONDS = 5;
/** Generous: a busy machine may pause. */
const MOST_MS = 120_000;

/** Returns what is left of a server: processes, cgroups, and a program on its port. */
async function listLeft({ port, host }: Server, number: string): Promise<string[]> {
  const token = process.env['BENCH_TOKEN'] ?? '';
  const mark = `${token}-${number}`;
  return [
    ...listPids().filter((pid) => environHas(pid, 'BENCH_SERVER', mark) === true),
    ...globSync(`/sys/fs/cgroup/**/bench-${mark}`),
    ...((await isListening(host, port)) ? [`port ${port}`] : []),
  ].map(String);
}

/** Listens in this process, and answers every request rightly. */
async function listen(port: number, { files }: Draw): Promise<AsyncDisposable> {
  const server = createServer((_, answer) => {
    answer.setHeader('content-type', 'application/json').end(files['BENCH_DEVICES']?.trim());
  });
  await once(server.listen(port, '127.0.0.1'), 'listening');
  return server;
}

/** Measures one trial of the server, and compares its record with the case. Expects that nothing is left. */
async function measureCase(
  { phase, fault, load, keeps, reasons, says, ended, logs, isLate, hasStranger }: ServerCase,
  expect: ExpectStatic,
): Promise<void> {
  const { sound } = stack.variants;
  const known = { ...sound!, command: [...sound!.command, fault, ...(FROM[phase] ?? []).map(String)] };
  const servers: Server[] = [];
  // A sound server on a busy machine may need longer.
  const hasty = keeps === 'measured' ? [] : ['--timeout', '1'];
  await using strangers = new AsyncDisposableStack();
  const seen = await rig.measure({
    planted: [],
    stack: { ...stack, variants: { known } },
    bench: ['--connections', '2', ...hasty, ...(load ?? LOADS[phase] ?? LOAD)],
    plan: {
      ...(phase === 'connect' && { barrierSeconds: 1 }),
      ...(isLate && { startSeconds: START_SECONDS }),
    },
    wrap: (effects) => ({
      ...effects,
      async launch(...order) {
        const server = await effects.launch(...order);
        servers.push(server);
        if (hasStranger) strangers.use(await listen(server.port, order[2]));
        return server;
      },
      async resources(server, companions) {
        const sampler = await effects.resources(server, companions);
        const start = sampler?.start.bind(sampler);
        return (
          sampler &&
          start &&
          Object.assign(sampler, {
            start(ours: readonly number[]) {
              // The window is open.
              process.kill(server.pid()!, 'SIGUSR2');
              return start(ours);
            },
          })
        );
      },
      ...(keeps !== 'measured' && {
        verify: (server, draw, when) => verify(server, draw, when, ANSWER_SECONDS),
      }),
    }),
  });
  const { trial } = seen;
  const kept = 'measured' in trial ? 'measured' : 'partial' in trial ? 'partial' : 'nothing';
  const codes = reasonsOf(seen);
  expect({ kept, codes }).toEqual({
    kept: keeps,
    codes: keeps === 'measured' ? reasons : expect.arrayContaining(reasons),
  });
  expect(trial.status === 'failed').toBe(keeps !== 'measured');
  const [first] = reasons;
  if (first !== undefined) expect(reasonOf(seen, first).text).toMatch(says!);
  expect(trial.files).toContain(`logs/${trial.id}.log`);
  if (ended !== undefined) expect(trial.time).toMatchObject(ended);
  // A record without reasons keeps no log.
  if (logs !== undefined) expect((trial.logTail ?? servers[0]?.logTail())?.at(-1)).toMatch(logs);
  await strangers.disposeAsync();
  expect(await listLeft(servers[0]!, trial.id.split('-')[0]!)).toEqual([]);
}

describe('a server that', () => {
  it.concurrent.for(SERVER_CASES.map((one) => ({ name: `${one.fault} (${one.phase})`, one })))(
    '$name',
    { timeout: MOST_MS },
    async ({ one }, { expect }) => {
      await expect(measureCase(one, expect)).resolves.toBeUndefined();
    },
  );
});
