/** The program on each other host: carries out one order, as `bench` would on that machine. */
import type { Trial } from 'bench-model/record';
import { estimateSeconds } from 'bench-model/planned';
import { join } from 'node:path';
import { DisposableStack } from '@whatwg-node/disposablestack';
import { defineCommand } from 'bench-http/cli/command';
import { BenchError } from 'bench-model/errors';
import type { HostMessage, HostOrder, StopOrder } from '../host-protocol.ts';
import { findEngines } from 'bench-load/engines';
import { readLines } from 'bench-load/protocol';
import { readEnd } from 'bench-machine/log-file';
import { run } from 'bench-http/measure/run';
import { secretsIn } from 'bench-http/plan/secrets';
import { hide, redact } from 'bench-machine/redact';
import { createEffects } from 'bench-http/conduct/effects';
import { startCompanions } from 'bench-http/services/index';
import { prepareRun, readVersions, type ReadyRun } from 'bench-http/conduct/prepare';
import { openSession, type Session } from 'bench-http/conduct/session';
import { sendMessage, terminal } from 'bench-http/terminal/shell';
import type { Voice } from 'bench-http/terminal/voice';

export default defineCommand({ name: 'host', options: {}, run: takeOrder });

/** Takes one order on stdin, carries it out, and reports events on stdout. Returns the exit code. */
async function takeOrder(): Promise<number> {
  const { promise: ordered, resolve } = Promise.withResolvers<HostOrder>();
  readLines<HostOrder | StopOrder>(
    process.stdin,
    (order) => {
      if (order.do === 'stop') interrupt();
      else resolve(order);
    },
    interrupt,
  );
  process.stdin.on('end', interrupt);
  // Without its command, it still has servers to stop.
  process.stdout.on('error', () => {});
  try {
    await carryOut(await ordered);
    await tell({ event: 'done' });
    return 0;
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const hint = error instanceof BenchError ? error.hint : undefined;
    await tell({ event: 'refused', message, ...(hint === undefined ? {} : { hint }) });
    return error instanceof BenchError ? error.exitCode : 1;
  } finally {
    process.stdin.destroy();
  }
}

/** Interrupts what this program does, as Ctrl-C would. */
function interrupt(): void {
  process.kill(process.pid, 'SIGTERM');
}

function tell(message: HostMessage): Promise<void> {
  return sendMessage(message);
}

const VOICE: Voice = {
  ...terminal,
  log: (line) => void tell({ event: 'log', line }),
  screen: { isLive: false, layout: () => ({}), showLive() {}, showLine() {}, showReport() {} },
};

async function carryOut(order: HostOrder): Promise<void> {
  const { plan, isNamed } = order;
  hide(secretsIn(plan));
  using session = await openSession(plan.run, { wait: true, voice: VOICE });
  await tell({ event: 'began' });
  using kept = new DisposableStack();
  const ready = await prepareRun(plan, { isNamed, voice: VOICE, kept });
  if (order.do === 'prepare') await prepare(order, ready);
  else await measure(order, ready, session);
}

async function prepare({ plan }: HostOrder, ready: ReadyRun): Promise<void> {
  const { prepared, placed, host, companions, leftOut } = ready;
  const versions = readVersions(prepared, companions, await findEngines([plan.engine]));
  const targets = prepared.map(({ target }) => target.id);
  const { placement } = placed;
  await tell({
    event: 'prepared',
    prepared: { host, placement, versions, targets, leftOut },
  });
}

async function measure({ plan }: HostOrder, ready: ReadyRun, session: Session): Promise<void> {
  const { prepared, placed, launcher, companions } = ready;
  const folder = session.makeFolder('round');
  session.expect(estimateSeconds(plan));
  const { token, recordLeftoverServer } = session;
  await using beside = await startCompanions(companions, { token, folder, placed, recordLeftoverServer });
  const wiring = { plan, token, placed, folder, launcher, companions: beside.all };
  const { effects, stop } = await createEffects(wiring);
  const record = async (trials: Trial[]): Promise<void> => {
    for (const trial of trials) await tell({ event: 'trial', ...withFiles(trial, folder) });
  };
  using _ = VOICE.onInterrupt(stop, 'stopping');
  // The command chooses the trials, and ends the run.
  await run(plan, { placed, prepared, before: [] }, { ...effects, record });
}

/** The part of a file that is kept of a longer one: its end. */
const KEPT_BYTES = 2 ** 20;

/** Returns a trial without secrets, with the contents of its files. */
function withFiles(trial: Trial, folder: string): { trial: Trial; files: Record<string, string> } {
  const files = trial.files.map((name) => [name, readEnd(join(folder, name), KEPT_BYTES)]);
  return { trial: redact(trial), files: Object.fromEntries(files) };
}
