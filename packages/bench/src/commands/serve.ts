import { defineCommand, option, repeated } from '../cli/command.ts';
import { oneOf, pair, text, wholeNumber } from '../cli/values.ts';
import { AsyncDisposableStack } from '@whatwg-node/disposablestack';
import pWaitFor from 'p-wait-for';
import { expandTargets, readStacks, refuseThreads } from 'bench-targets/catalogue/stacks';
import { completeParams, findWorkload, WORKLOAD_NAMES } from 'bench-targets/catalogue/workloads/index';
import { readManifest } from 'bench-targets/catalogue/manifest';
import { ToolchainError, TrialError, UsageError } from 'bench-model/errors';
import { commandLine } from 'bench-machine/home';
import { launch } from 'bench-machine/launch';
import { describeListeners, isListening } from 'bench-machine/ports';
import { prepareAll } from 'bench-targets/prepare/prepare';
import { findCompanions, startCompanions } from '../services/index.ts';
import type { RunningCompanion } from '../services/companion.ts';
import type { Target } from 'bench-model/target';
import { stacksOfProject } from '../conduct/resolve.ts';
import { openSession } from '../conduct/session.ts';
import { INTERRUPTED, onInterrupt, logLine } from '../terminal/shell.ts';

const HOST = '127.0.0.1';
const POLL_MS = 50;

export default defineCommand({
  name: 'serve',
  about: 'Starts one server for you to try by hand, with its upstream or database. Ctrl-C stops it.',
  arguments: {
    terms: '[target]',
    noun: 'target',
    help: 'stack[/variant][@runtime] (default: the stack of --stack, or of stack.json)',
    example: commandLine('serve fastify'),
  },
  options: {
    stack: repeated('<file>', text, { help: 'a stack.json from outside the repository' }),
    port: option('<n>', wholeNumber(), { help: 'the port', default: 8080 }),
    workload: option('<name>', oneOf(WORKLOAD_NAMES), {
      help: WORKLOAD_NAMES.join(', '),
      default: 'devices',
    }),
    param: repeated('<name=n>', pair, { help: 'a parameter of the workload' }),
    workers: option('<n>', wholeNumber(), { help: 'workers', default: 1 }),
    threads: option('<n>', wholeNumber(), { help: 'threads of each worker', usually: 'set by the stack' }),
  },
  async run({ args, stack, port, workload: name, param, workers, threads }) {
    const isNamed = stack.length > 0 || args.length > 0;
    const files = isNamed ? stack : (stacksOfProject() ?? []);
    const stacks = readStacks(files);
    const workload = findWorkload(name);
    const params = completeParams(workload, Object.fromEntries(param));
    const patterns = args.length > 0 ? args : files.map((file) => readManifest(file).name);
    // A server of the user has requests of its own.
    const isOwn = stacks.some(
      (one) => one.project !== undefined && patterns[0]?.split('/', 1)[0] === one.name,
    );
    const targets =
      patterns.length === 0 ? [] : expandTargets(patterns, stacks, isOwn ? undefined : workload.name);
    const [target] = targets;
    if (target === undefined || targets.length > 1)
      throw new UsageError('name one target to serve', `e.g. ${commandLine('serve fastify')}`);
    if ((threads ?? 1) > 1) refuseThreads(targets, stacks, workload.name);
    if (await isListening(HOST, port)) {
      throw new UsageError(
        `port ${port} is taken by ${describeListeners(port)}`,
        commandLine(`serve ${target.id} --port ${port + 1}`),
      );
    }
    const { prepared, missing } = await prepareAll([target], stacks, logLine);
    const [ready] = prepared;
    if (ready === undefined) throw new ToolchainError(missing[0]?.reason ?? target.id, missing[0]?.hint);
    const draw = workload.draw(() => Math.random(), params);
    const words = `stopping ${target.id}`;
    using session = await openSession(`serve ${target.id}`, { isAlone: false, words });
    const { token, recordLeftoverServer } = session;
    const folder = session.makeFolder('serve');
    const found = await findCompanions({ workload: workload.name, params, workers, targets, known: stacks });
    const place = { token, folder, placed: {}, recordLeftoverServer };
    await using companions = await startCompanions(found, place);
    const stopping = new AbortController();
    using _ = onInterrupt(() => {
      stopping.abort();
      for (const running of companions.all) running.interrupt?.();
    }, words);
    await using parts = new AsyncDisposableStack();
    const ofCompanions = [];
    for (const running of companions.all) {
      ofCompanions.push(parts.use(await running.begin(draw, { id: 'serve', target, prepared: ready })).env);
      logLine(`${running.name}: ${describe(running, target)}`);
    }
    if (stopping.signal.aborted) return INTERRUPTED;
    await using server = await launch({
      id: 'serve',
      token,
      command: ready.command,
      cwd: ready.stack.root,
      env: Object.assign({}, ready.env, draw.env, ...ofCompanions),
      files: draw.files,
      workers,
      threads,
      prefix: [],
      isOfUser: isOwn,
      isShown: true,
      port,
      folder,
      stopped: stopping.signal,
    });
    const isOver = (): boolean => stopping.signal.aborted || server.ended() !== undefined;
    await pWaitFor(async () => isOver() || (await isListening(HOST, port)), { interval: POLL_MS });
    if (!isOver()) {
      const origin = `${ready.variant.scheme}://${HOST}:${port}`;
      const requests = isOwn
        ? [origin]
        : draw.requests.map(({ method, path }) => `${method} ${origin}${path}`);
      for (const one of requests) logLine(`${target.id}: ${one} — Ctrl-C stops it`);
    }
    await pWaitFor(isOver, { interval: POLL_MS });
    const end = server.ended();
    for (const reason of (await server.stop()).trouble) logLine(`${target.id}: ${reason.text}`);
    if (stopping.signal.aborted) return INTERRUPTED;
    if (end === 'exit status 0') return 0;
    throw new TrialError(`${target.id} ended: ${end}`);
  },
});

/** The kind, the version and the address of a companion, as far as it has them. */
function describe(running: RunningCompanion, target: Target): string {
  const { kind, version } = running.head(target) as { kind?: string; version?: string };
  return [kind, version, running.address && `on ${running.address}`].filter(Boolean).join(' ');
}
