import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { RemoteCompanion } from '../src/companion.ts';
import type { CompanionOrder, CompanionStep, HostMessage } from '../src/host-protocol.ts';
import type { RunningProgram } from '../src/remote-program.ts';
import type { DistantProcess, LaunchContext } from 'bench-http/services/companion';
import { sampleResources } from '../../bench-lab/testing/samples.ts';

const folder = mkdtempSync(join(tmpdir(), 'bench-companion-'));
afterAll(() => rmSync(folder, { recursive: true }));

const ORDER: CompanionOrder = {
  do: 'companion',
  run: 'run',
  name: 'upstream',
  needs: { workload: 'gather' },
  network: { address: '10.0.0.3', clients: ['10.0.0.1'] },
  prefix: [],
  isAlone: true,
};
const HOST = { name: 'h3', cores: 2, release: '6.1' };
const MEANS: LaunchContext = { token: '', folder, placed: {} };

/** The program of another host, whose answers a test writes. */
class FakeProgram {
  readonly name = 'h3';
  readonly steps: string[] = [];
  readonly #over = Promise.withResolvers<void>();
  readonly #answers: (step: CompanionStep) => HostMessage[];
  isStopped = false;
  tell: (message: HostMessage) => void = () => {};

  constructor(answers: (step: CompanionStep) => HostMessage[]) {
    this.#answers = answers;
    this.#over.promise.catch(() => {});
  }

  run(_order: CompanionOrder, take: (message: HostMessage) => void): RunningProgram {
    this.tell = take;
    take({ event: 'began' });
    take({ event: 'found', kind: 'nginx', version: '1.26', cores: [0, 1] });
    return {
      send: (step) => {
        this.steps.push(step.do);
        for (const message of this.#answers(step)) take(message);
      },
      over: this.#over.promise,
      stop() {},
      end: async () => {
        this.isStopped = true;
      },
    };
  }

  break(why: string): void {
    this.#over.reject(new Error(why));
  }
}

const RESOURCES = sampleResources(0.4);

/** Answers each step as the program of a host does. */
function answer({ do: step }: CompanionStep): HostMessage[] {
  if (step === 'launch') return [{ event: 'launched', url: 'http://10.0.0.3:20000' }];
  if (step === 'open') return [{ event: 'opened' }];
  if (step === 'close') return [{ event: 'closed', resources: RESOURCES, machine: { stealCores: 0.2 } }];
  return [{ event: 'landed', log: 'served\n' }];
}

interface Answer {
  deadlineSeconds?: number;
  pid?: number;
  log?: (line: string) => void;
}

const find = (
  program: FakeProgram,
  { deadlineSeconds = 10, pid, log = () => {} }: Answer = {},
): Promise<RemoteCompanion> =>
  RemoteCompanion.find(program, ORDER, { host: HOST, pid, deadlineSeconds, log });

describe('a companion on another host', () => {
  it('is found, launched, sampled and stopped there, and its log is kept here', async () => {
    const program = new FakeProgram(answer);
    const companion = await find(program);
    expect(companion).toMatchObject({ kind: 'nginx', version: '1.26', cores: [0, 1], host: HOST });
    const launched = await companion.launch(MEANS);
    expect(launched.url).toBe('http://10.0.0.3:20000');
    const { pid, meter } = launched.process() as DistantProcess;
    expect(pid).toBeUndefined();
    await meter.start();
    expect(await meter.stop()).toEqual(RESOURCES);
    expect(companion.machine()).toEqual({ stealCores: 0.2 });
    await launched[Symbol.asyncDispose]();
    expect(readFileSync(join(folder, 'logs/upstream.log'), 'utf8')).toBe('served\n');
    await companion[Symbol.asyncDispose]();
    expect([program.steps, program.isStopped]).toEqual([['launch', 'open', 'close', 'land'], true]);
  });

  it('on a node of this machine, belongs to the measurement, whose other processes are not foreign', async () => {
    const companion = await find(new FakeProgram(answer), { pid: 7 });
    const { pid, meter } = (await companion.launch(MEANS)).process() as DistantProcess;
    expect(pid).toBe(7);
    await meter.start();
    await meter.stop();
    expect(companion.machine()).toBeUndefined();
  });

  it.each(['open', 'close'])('has no figures of a window that its host was late to %s', async (late) => {
    vi.useFakeTimers({ toFake: ['performance'] });
    try {
      const answerLate = (step: CompanionStep): HostMessage[] => {
        vi.advanceTimersByTime(step.do === late ? 300 : 10);
        return answer(step);
      };
      const lines: string[] = [];
      const companion = await find(new FakeProgram(answerLate), { log: (line) => lines.push(line) });
      const { meter } = (await companion.launch(MEANS)).process() as DistantProcess;
      const window = async (ms: number) => {
        await meter.start();
        vi.advanceTimersByTime(ms);
        return [await meter.stop(), companion.machine()];
      };
      expect(await window(500)).toEqual([undefined, undefined]);
      expect(lines).toEqual([
        'h3: its answers took 310 ms, so the CPU of the upstream in the window is not known',
      ]);
      expect(await window(5000)).toEqual([RESOURCES, { stealCores: 0.2 }]);
    } finally {
      vi.useRealTimers();
    }
  });

  it('says how its program ended, and where, but is not lost', async () => {
    const program = new FakeProgram(answer);
    const companion = await find(program);
    const launched = await companion.launch(MEANS);
    program.tell({ event: 'fell', how: 'exit status 1', logTail: ['panic: no space left'] });
    expect([launched.ended(), launched.logTail()]).toEqual(['h3: exit status 1', ['panic: no space left']]);
    expect(launched.process()).toBeUndefined();
    expect(companion.lost()).toBeUndefined();
  });

  it('is lost with its host: a window then has no resources', async () => {
    const program = new FakeProgram((step) => (step.do === 'close' ? [] : answer(step)));
    const companion = await find(program);
    const launched = await companion.launch(MEANS);
    const { meter } = launched.process() as DistantProcess;
    await meter.start();
    const closed = meter.stop();
    program.break('its host was lost: the node has died');
    expect(await closed).toBeUndefined();
    expect(companion.lost()).toBe('its host was lost: the node has died');
    expect(launched.ended()).toBe('h3: its host was lost: the node has died');
    await launched[Symbol.asyncDispose]();
    await expect(companion.launch(MEANS)).rejects.toThrow('h3: its host was lost');
  });

  it('is lost if it does not answer in time', async () => {
    const companion = await find(new FakeProgram((step) => (step.do === 'open' ? [] : answer(step))), {
      deadlineSeconds: 0.01,
    });
    const { meter } = (await companion.launch(MEANS)).process() as DistantProcess;
    await meter.start();
    expect(companion.lost()).toBe('it did not answer for 0.01 s');
  });
});
