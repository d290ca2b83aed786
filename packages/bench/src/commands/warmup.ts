import { benchOptions, type BenchOptions, present } from 'bench-model/options';
import { UPSTREAMS } from 'bench-model/upstreams';
import { WORKLOAD_NAMES } from 'bench-targets/catalogue/workloads/index';
import { commandLine } from 'bench-machine/home';
import { PACKAGES, splitVersions } from 'bench-targets/catalogue/packages';
import { defineCommand, flag, option, repeated, WAITS } from '../cli/command.ts';
import { listOf, oneOf, pair, span, text, wholeNumber } from '../cli/values.ts';
import { randomInt } from 'node:crypto';
import { nameRuntimes } from 'bench-targets/prepare/names';
import { readStacks } from 'bench-targets/catalogue/stacks';
import { makePlan, nameRun } from '../plan/plan.ts';
import { renderStudyJson, viewStudies } from 'bench-report/warm';
import { shown } from 'bench-analysis/results/store';
import { showView } from '../conduct/compared.ts';
import { openSession } from '../conduct/session.ts';
import { logLine, printJson, printStyled, terminal } from '../terminal/shell.ts';
import { measureStudy } from '../conduct/study.ts';

/** The part of the processes of a target that may be replaced by others. */
const SPARE_SHARE = 1 / 2;

/** A parsed `pnpm warmup` command. */
interface WarmupRequest {
  /** The targets and their servers; the rounds are the processes. */
  options: BenchOptions;
  /** The time for which each process is observed. */
  seconds: number;
  json: boolean;
  wait: boolean;
}

/** A study shorter than twice the default warm-up shows no level after it. */
const STUDY = { connections: 10, seconds: 60, leastSeconds: 4, processes: 5 };

const AS_IN_BENCH = `as in ${commandLine('bench')}`;

export default defineCommand({
  name: 'warmup',
  about:
    'Studies how long fresh servers take to warm up. Each process is loaded in short turns with a warm reference on the same core, so that the speed of the machine cancels out in the ratio of the two. Prints how long each target takes, and how much faster it becomes.',
  arguments: {
    terms: '<target...>',
    noun: 'target',
    help: 'stack[/variant][@runtime], globs allowed: fastify, "fastapi/*", fastapi@3.14+jit',
    example: commandLine('warmup fastify'),
  },
  options: {
    workload: option('<name>', oneOf(WORKLOAD_NAMES), {
      help: WORKLOAD_NAMES.join(', '),
      default: 'devices',
    }),
    param: repeated('<name=n>', pair, { help: 'a parameter of the workload' }),
    connections: option('<n>', wholeNumber(), {
      help: 'connections to each of the two servers',
      default: STUDY.connections,
    }),
    for: option('<time>', span(STUDY.leastSeconds), {
      help: 'how long each process is observed',
      usually: `${STUDY.seconds}s`,
    }),
    processes: option('<n>', wholeNumber(), {
      help: 'fresh processes of each target. Up to half as many more replace those that the machine disturbed',
      default: STUDY.processes,
    }),
    'no-initial-gc': flag({ help: AS_IN_BENCH }),
    python: option('<list>', listOf(text), {
      help: 'the same targets on several Pythons, e.g. 3.14,3.14+jit',
    }),
    node: option('<list>', listOf(text), {
      help: 'the same targets on several JavaScript runtimes, e.g. 22,26,bun',
    }),
    with: repeated('<package>', text, {
      separator: PACKAGES,
      help: `a version instead of the locked one, ${AS_IN_BENCH}`,
    }),
    resolve: flag({ help: AS_IN_BENCH }),
    stack: repeated('<file>', text, { help: 'a stack.json from outside the repository' }),
    upstream: option('<kind>', oneOf(UPSTREAMS), {
      help: 'the server that gather fetches from: nginx or embedded',
      usually: 'nginx if it is on PATH',
    }),
    workers: option('<n>', wholeNumber(), { help: 'workers of each server', default: 1 }),
    threads: option('<n>', wholeNumber(), { help: 'threads of each worker', usually: 'set by the stack' }),
    cores: option('<n>', wholeNumber(), {
      help: 'cores that a server can use',
      usually: 'as many as workers',
    }),
    seed: option('<n>', wholeNumber(0), {
      help: 'sets the order of the processes and their random data',
      usually: 'random',
    }),
    json: flag({ help: 'print the study as JSON' }),
    ...WAITS,
  },
  notes: 'Exit codes: 0 done, 1 a process failed, 2 bad usage, 3 a toolchain is missing,\n130 interrupted.',
  read: (values, targets): WarmupRequest => ({
    options: benchOptions({
      targets,
      stacks: values.stack,
      matrix: {
        python: values.python ?? [],
        node: values.node ?? [],
        packages: values.with.flatMap(splitVersions),
      },
      workload: values.workload,
      workers: values.workers,
      resolve: values.resolve,
      noInitialGc: values.noInitialGc,
      connections: [values.connections],
      rounds: values.processes,
      interleave: false,
      ...present({
        params: values.param.length === 0 ? undefined : Object.fromEntries(values.param),
        threads: values.threads,
        cores: values.cores,
        upstream: values.upstream,
        seed: values.seed,
      }),
    }),
    seconds: values.for ?? STUDY.seconds,
    json: values.json,
    wait: values.wait,
  }),
  async run({ options: typed, seconds, wait, json }) {
    const options = await nameRuntimes(typed);
    const run = nameRun('warmup');
    const plan = makePlan(options, readStacks(options.stacks), run, options.seed ?? randomInt(2 ** 32));
    using session = await openSession(run, { wait });
    const isNamed = !options.targets.some((pattern) => pattern.includes('*'));
    const spare = Math.floor(plan.rounds * SPARE_SHARE);
    const job = { plan, seconds, spare, session, isNamed, voice: terminal };
    const { study, interrupted } = await measureStudy(job);
    if (json) printJson(renderStudyJson(study));
    else printStyled(showView(viewStudies([study])));
    logLine(`saved in ${shown(study.folder)}`);
    if (interrupted) return 130;
    return study.processes.some(({ status }) => status === 'failed') ? 1 : 0;
  },
});
