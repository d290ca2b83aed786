/** The programs of a manifest: services that must become ready, and the setup command that must end. */
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  READY_SECONDS,
  SETUP_SECONDS,
  fillAddresses,
  type Addresses,
  type ServiceAddress,
} from 'bench-targets/catalogue/services';
import type { ProgramService, Setup } from 'bench-model/manifest';
import { joinWords } from 'bench-targets/catalogue/projects/words';
import { BenchError, UsageError } from 'bench-model/errors';
import { present } from 'bench-model/options';
import { describeEnd, describeTail, launch, type Server } from 'bench-machine/launch';
import { describeListeners, isListening } from 'bench-machine/ports';
import { sendRequest } from 'bench-targets/catalogue/workloads/send';
import { run, SubprocessError } from 'bench-machine/subprocess';
import { CompanionError, untilReady } from '../companion.ts';

const POLL_MS = 20;
const HOST = '127.0.0.1';
/** The longest time that one look at a service may take. */
const LOOK_SECONDS = 5;

export interface ProgramContext {
  /** Marks its processes. */
  token: string;
  /** The folder of the run, for its log. */
  folder: string;
  /** Names its log; the part before the first hyphen is unique in a run. */
  id: string;
  root: string;
  prefix: readonly string[];
  isStopped: () => boolean;
}

/** Throws a usage error if the fixed port of a service is taken. */
export async function refuseTakenPort(name: string, { port }: ProgramService): Promise<void> {
  if (port === undefined || !(await isListening(HOST, port))) return;
  throw new UsageError(
    `service ${name}: port ${port} is taken by ${describeListeners(port)}`,
    'stop that process, or omit "port" and use {port}: Bench then chooses a free one',
  );
}

/** Starts a service, waits until it is ready, and returns it with its address. Throws a companion error with its last lines if it does not become so. */
export async function startService(
  name: string,
  service: ProgramService,
  addresses: Addresses,
  context: ProgramContext,
): Promise<{ server: Server; address: ServiceAddress }> {
  await refuseTakenPort(name, service);
  const { port, env = {}, url = 'http://{host}:{port}', ready = 'tcp' } = service;
  const { timeoutSeconds = READY_SECONDS } = service;
  const server = await start(service.command, fillAll(env, addresses), context, port);
  const fill = (text: string): string =>
    text
      .replaceAll('{host}', server.host)
      .replaceAll('{port}', String(server.port))
      .replaceAll('{root}', context.root);
  const look = (): Promise<string | undefined> => {
    if (context.isStopped()) throw new BenchError('interrupted', `interrupted while service ${name} started`);
    return lookAt(server, ready, fill, context.root);
  };
  await untilReady(server, look, timeoutSeconds, (why) => {
    return new CompanionError(`service ${name} ${why}`, [
      `command: ${joinWords(service.command.map(fill))}`,
      `asked:   ${describeReady(ready, server, fill)}`,
      ...describeTail(server.logTail()),
    ]);
  });
  return { server, address: { host: server.host, port: String(server.port), url: fill(url) } };
}

/** The setup command failed. */
export class SetupError extends CompanionError {}

/** Returns why a service is not ready; undefined if it is. */
async function lookAt(
  server: Server,
  ready: NonNullable<ProgramService['ready']>,
  fill: (text: string) => string,
  root: string,
): Promise<string | undefined> {
  if (ready === 'tcp') {
    const isOpen = await isListening(server.host, server.port);
    return isOpen ? undefined : `nothing listens on port ${server.port}`;
  }
  if ('http' in ready) {
    const spec = { method: 'GET', path: ready.http, headers: {} };
    return sendRequest(server, spec, LOOK_SECONDS).then(
      ({ status }) => (status >= 200 && status < 300 ? undefined : `status ${status}`),
      (error: Error) => error.message,
    );
  }
  return run(ready.command.map(fill), { cwd: root, timeoutMs: LOOK_SECONDS * 1000 }).then(
    () => undefined,
    (error: unknown) => {
      if (!(error instanceof SubprocessError)) throw error;
      const [line = ''] = `${error.stderr}${error.stdout}`.trim().split('\n');
      return [error.message, line].filter(Boolean).join(': ');
    },
  );
}

function describeReady(
  ready: NonNullable<ProgramService['ready']>,
  { host, port }: Server,
  fill: (text: string) => string,
): string {
  if (ready === 'tcp') return `tcp ${host}:${port}`;
  return 'http' in ready ? `GET http://${host}:${port}${ready.http}` : joinWords(ready.command.map(fill));
}

/**
 * Runs the setup command to its end, in the environment of the server, and returns its duration in s. Throws a companion
 * error with its last lines if it fails or does not end in time. Whatever it started is stopped.
 */
export async function runSetup(
  { timeoutSeconds = SETUP_SECONDS, command: shown }: Setup,
  { command, env }: { command: readonly string[]; env: Record<string, string> },
  context: ProgramContext,
): Promise<number> {
  const startedAt = performance.now();
  const server = await start(command, env, context);
  const deadline = startedAt + timeoutSeconds * 1000;
  const fail = (what: string): never => {
    throw new SetupError(`setup ${what}`, [
      `command: ${joinWords(shown)}`,
      ...describeTail(server.logTail()),
    ]);
  };
  try {
    while (server.ended() === undefined) {
      if (context.isStopped()) throw new BenchError('interrupted', 'interrupted during the setup');
      if (performance.now() > deadline) fail(`did not end within ${timeoutSeconds} s`);
      await sleep(POLL_MS);
    }
    const seconds = (performance.now() - startedAt) / 1000;
    if (server.ended() !== 'exit status 0') fail(`failed: ${describeEnd(server)}`);
    return seconds;
  } finally {
    await server.stop();
  }
}

function start(
  command: readonly string[],
  env: Record<string, string>,
  { id, token, folder, root, prefix }: ProgramContext,
  port?: number,
): Promise<Server> {
  const [program = '', ...args] = command.map((word) => word.replaceAll('{root}', root));
  return launch({
    id,
    token,
    command: [program.includes('/') ? resolve(root, program) : program, ...args],
    cwd: root,
    env,
    prefix,
    isOfUser: true,
    folder,
    ...present({ port }),
  });
}

/** Fills in the addresses of services in an environment. */
export function fillAll(env: Readonly<Record<string, string>>, addresses: Addresses): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).map(([name, value]) => [name, fillAddresses(value, addresses)]),
  );
}
