import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { start } from 'bench-machine/subprocess';
import type { Prepared } from '../../src/prepare/prepare.ts';
import { findProfiler } from '../../src/profile/profilers.ts';
import { withTelling } from '../../src/profile/telling.ts';

const folder = mkdtempSync(join(tmpdir(), 'bench-profile-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** As far as a profiler reads it. */
function prepared(runtime: 'node' | 'none', command: string[], spec?: string): Prepared {
  return {
    stack: { runtime },
    target: spec === undefined ? {} : { runtime: { kind: 'node', spec } },
    command,
    env: {},
  } as unknown as Prepared;
}

describe.runIf(process.platform === 'linux')('the profiler of a target', () => {
  it('samples the functions of a Node process between attach and stop', async () => {
    const script = join(folder, 'busy.mjs');
    writeFileSync(
      script,
      'function busy() { for (const end = process.cpuUsage().user + 20_000; process.cpuUsage().user < end; ); }\nsetInterval(() => { busy(); console.log("done"); }, 5);\n',
    );
    const profiler = await findProfiler(prepared('node', []), () => {});
    const file = join(folder, 'profile');
    const { env } = withTelling(profiler.ready?.(prepared('node', []), file) as Prepared, file);
    const child = start({
      stdio: ['ignore', 'pipe', 'ignore'],
      env: { ...process.env, ...env },
    })`exec ${process.execPath} ${script}`;
    try {
      await once(child.stdout as NodeJS.ReadableStream, 'data');
      await using recording = await profiler.attach(child.pid as number, file);
      // Each line stands for 20 ms of CPU, however busy the machine is.
      for (let done = 0; done < 15; done++) await once(child.stdout as NodeJS.ReadableStream, 'data');
      const [profile] = await recording.stop();
      expect(profile?.format).toBe('cpuprofile');
      // To follow each await costs more than the server: its answer would be here.
      expect(existsSync(`${env['BENCH_WAITS']}-${child.pid}`)).toBe(false);
      const { nodes, samples } = JSON.parse(profile?.text ?? '') as {
        nodes: { id: number; callFrame: { functionName: string }; children?: number[] }[];
        samples: number[];
      };
      // Most of its time goes into what it calls. Callers come before what they call.
      const busy = new Set<number>();
      for (const { id, callFrame, children = [] } of nodes)
        if (callFrame.functionName === 'busy' || busy.has(id))
          for (const one of [id, ...children]) busy.add(one);
      expect(samples.filter((id) => busy.has(id)).length).toBeGreaterThan(5);
    } finally {
      child.kill('SIGKILL');
    }
  });

  it('is absent with the reason for programs whose functions nobody can name', async () => {
    const find = (command: string): Promise<unknown> => findProfiler(prepared('none', [command]), () => {});
    await expect(find('/usr/bin/java')).rejects.toThrow('no profiler for java');
    await expect(findProfiler(prepared('node', [], 'bun'), () => {})).rejects.toThrow('no profiler for bun');
  });
});
