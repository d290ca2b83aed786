/** A companion that runs on this machine for the servers of another host. */
import { commandLine } from 'bench-machine/home';
import type { Voice } from 'bench-http/terminal/voice';
import { MOVABLE } from 'bench-http/services/index';
import type { LaunchedProgram } from 'bench-http/services/companion';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { PassThrough } from 'node:stream';
import { BenchError } from 'bench-model/errors';
import type { CompanionOrder, CompanionStep, HostMessage } from './host-protocol.ts';
import { readEnd } from 'bench-machine/launch';
import { readCores } from 'bench-machine/placement';
import { openSampler } from 'bench-machine/resources/open';
import type { Sampled, Sampler } from 'bench-machine/resources/sampler';
import { openSession } from 'bench-http/conduct/session';

/** The part of a log that is kept of a longer one: its end. */
const KEPT_BYTES = 2 ** 20;

/** Finds a companion, and takes its steps until there are no more. Throws a usage or toolchain error if it is not here. */
export async function keepCompanion(
  { run: name, name: companion, needs, network, prefix, isAlone }: CompanionOrder,
  steps: PassThrough,
  { tell, voice }: { tell: (message: HostMessage) => Promise<void>; voice: Voice },
): Promise<void> {
  using session = await openSession(name, { isAlone, wait: true, voice });
  using _ = voice.onInterrupt(() => steps.end(), 'stopping');
  await tell({ event: 'began' });
  const program = await MOVABLE[companion].movable.find(needs);
  if (!('launch' in program)) {
    throw new BenchError(
      'usage',
      `${program.kind} ${program.version} is set in its environment`,
      `unset DATABASE_URL before ${commandLine('cluster up')}`,
    );
  }
  const { kind, version } = program;
  await tell({ event: 'found', kind, version, cores: readCores().map(({ id }) => id) });
  const { token } = session;
  const all = session.makeFolder('companion');
  let folder = all;
  let kept: KeptProgram | undefined;
  try {
    for await (const step of steps as AsyncIterable<CompanionStep>) {
      if (step.do === 'launch') {
        const { index } = step;
        folder = join(all, String(index));
        const launched = await program.launch({ token, folder, placed: { beside: prefix }, index, network });
        kept = new KeptProgram(launched, (how) => {
          void tell({ event: 'fell', how, logTail: launched.logTail() });
        });
        await tell({ event: 'launched', url: kept.url });
      } else if (step.do === 'open') {
        await kept?.open();
        await tell({ event: 'opened' });
      } else if (step.do === 'close') {
        const { server: resources, host: machine } = (await kept?.close()) ?? {};
        await tell({ event: 'closed', ...(resources && { resources }), ...(machine && { machine }) });
      } else {
        await kept?.[Symbol.asyncDispose]();
        kept = undefined;
        await tell({ event: 'landed', log: readLog(folder) });
      }
    }
  } finally {
    await kept?.[Symbol.asyncDispose]();
  }
}

/** The interval between looks at a program that may end by itself. */
const LOOK_MS = 100;

/** A program of a companion that was launched, with its sampler. `fell` is called if it ends by itself. */
class KeptProgram implements AsyncDisposable {
  readonly url: string;
  readonly #launched: LaunchedProgram;
  readonly #timer: NodeJS.Timeout;
  #sampler: Sampler | undefined;

  constructor(launched: LaunchedProgram, fell: (how: string) => void) {
    this.url = launched.url;
    this.#launched = launched;
    this.#timer = setInterval(() => {
      const how = launched.ended();
      if (how === undefined) return;
      clearInterval(this.#timer);
      fell(how);
    }, LOOK_MS);
  }

  /** Opens a window; nothing if the program has ended. */
  async open(): Promise<void> {
    const process = this.#launched.process();
    if (process === undefined || 'meter' in process) return;
    this.#sampler ??= await openSampler({ serverPid: process.pid, cgroup: process.cgroup });
    await this.#sampler.start([]);
  }

  /** Closes the window; returns undefined if the program had ended before. */
  async close(): Promise<Sampled | undefined> {
    return this.#sampler?.stop().catch(() => undefined);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    this.#sampler?.[Symbol.dispose]();
    await this.#launched[Symbol.asyncDispose]();
  }
}

/** The end of the log of a companion, the only one in its folder. */
function readLog(folder: string): string {
  const [name] = readdirSync(join(folder, 'logs'));
  return name === undefined ? '' : readEnd(join(folder, 'logs', name), KEPT_BYTES);
}
