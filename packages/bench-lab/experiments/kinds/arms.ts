/** The ways in which the processes of this experiment are started and asked. */
import { fileURLToPath } from 'node:url';
import { USUAL, type Manner } from './client.ts';

/** One step in the life of a process. */
export type Step =
  | { ask: number; everyMs: number }
  /** Seconds without a request. */
  | { idle: number }
  /** Load until the process has used this many seconds of CPU. */
  | { warm: number }
  /** Turns against the reference, as pairs of spans. */
  | { measure: number }
  /** A signal to the hook of the process. */
  | { signal: 'SIGUSR2' };

/** A group of processes that live alike. */
export interface Arm {
  name: string;
  target: string;
  /** Options of the runtime. */
  flags: string[];
  manner: Manner;
  steps: Step[];
  /** True if it lives at the same time as the others of its round, because its CPU time is not measured. */
  isTogether: boolean;
}

const PAIRS = 40;
const hook = (name: string): string[] => [
  '--require',
  fileURLToPath(new URL(`hooks/${name}.cjs`, import.meta.url)),
];
const COLLECT = ['--expose-gc', ...hook('collect')];
const SHAPES = ['--allow-natives-syntax', '--trace-gc', ...hook('shapes')];

/** The requests of Bench before a load: the first right answer, and the verification. */
const verified: Step = { ask: 3, everyMs: 0 };
const warmed: Step[] = [{ warm: 2 }, { measure: PAIRS }];
const collected: Step[] = [{ ask: 10, everyMs: 0 }, { signal: 'SIGUSR2' }, { idle: 0.2 }];

function arm(name: string, target: string, given: Partial<Arm> = {}): Arm {
  return {
    name,
    target,
    flags: [],
    isTogether: false,
    manner: USUAL,
    steps: [verified, ...warmed],
    ...given,
  };
}

/** The feedback of V8 shows the kind, without turns. */
function told(name: string, given: Partial<Arm> = {}, first: Step[] = [verified]): Arm {
  const { flags = [] } = given;
  const steps: Step[] = [...first, { warm: 0.8 }, { signal: 'SIGUSR2' }];
  return arm(name, 'fastify', { ...given, flags: [...SHAPES, ...flags], steps });
}

const STARTS = [
  told('as Bench starts it'),
  told('no request before the load', {}, []),
  told('30 requests, 20 ms apart', {}, [{ ask: 30, everyMs: 20 }]),
  told('300 requests, 10 ms apart', {}, [{ ask: 300, everyMs: 10 }]),
  told('3 s idle before the load', {}, [verified, { idle: 3 }]),
  told('1 connection', { manner: { ...USUAL, connections: 1 } }),
  told('100 connections', { manner: { ...USUAL, connections: 100 } }),
  told('4 pipelined requests', { manner: { ...USUAL, pipelined: 4 } }),
  told('keep-alive header', { manner: { ...USUAL, headers: ['Connection: keep-alive'] } }),
  told('--single-threaded', { flags: ['--single-threaded'] }),
  told('--single-threaded-gc', { flags: ['--single-threaded-gc'] }),
  told('--no-concurrent-recompilation', { flags: ['--no-concurrent-recompilation'] }),
  told('--no-maglev', { flags: ['--no-maglev'] }),
  told('--initial-old-space-size=256', { flags: ['--initial-old-space-size=256'] }),
];

const SWITCHES = [
  arm('full collection before the load', 'fastify', { flags: COLLECT, steps: [...collected, ...warmed] }),
  arm('as Bench starts it', 'vanilla'),
  arm('full collection before the load', 'vanilla', { flags: COLLECT, steps: [...collected, ...warmed] }),
  arm('tick object kept', 'fastify', { flags: hook('keep') }),
  arm('tick object kept, full collection', 'fastify', {
    flags: [...COLLECT, ...hook('keep')],
    steps: [...collected, ...warmed],
  }),
  arm('feedback read', 'fastify', { flags: SHAPES, steps: [verified, ...warmed, { signal: 'SIGUSR2' }] }),
];

/** Processes that live at the same time. The feedback of V8 is read again and again. */
const AGES = ['vanilla', 'fastify'].flatMap((target) => [
  aging('10 s idle, 0.3 s of load', target, [{ idle: 10 }, { warm: 0.3 }]),
  aging('5 s of load without a pause', target, [{ warm: 5 }]),
  aging('5 s of load with pauses of 30 ms', target, repeat(25, [{ warm: 0.2 }, { idle: 0.03 }])),
]);

function repeat(count: number, steps: Step[]): Step[] {
  return Array.from({ length: count }, () => steps).flat();
}

function aging(name: string, target: string, between: Step[]): Arm {
  const reads = repeat(6, [...between, { signal: 'SIGUSR2' }]);
  const steps: Step[] = [verified, { warm: 1 }, { signal: 'SIGUSR2' }, ...reads];
  return arm(name, target, { flags: SHAPES, steps, isTogether: true });
}

export const PARTS: Record<string, Arm[]> = {
  starts: STARTS,
  switches: SWITCHES,
  ages: AGES,
};
