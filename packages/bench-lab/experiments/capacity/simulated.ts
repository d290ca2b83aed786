/** A trial of a server that is simulated: the search of its capacity, as a run has it. */
import { CapacitySearch, sharesOf } from 'bench-http/measure/capacity';
import type { FoundCapacity, Step } from 'bench-model/measured';
import type { Promised } from 'bench-model/promise';
import type { Trial } from 'bench-model/record';
import { createRandom, type Random } from 'bench-statistics/random';
import { paceOf, SimulatedServer, type Queue } from '../../testing/queues.ts';
import { okTrial, sampleMeasured, suspectTrial } from '../../testing/samples.ts';

/** One trial. Its service times differ from those of the queue by a normal factor of the standard deviation `changing`. */
export interface SimulatedTrial {
  target: string;
  /** From 1. */
  round: number;
  queue: Queue;
  promise: Promised;
  /** The length of a search. */
  seconds: number;
  changing: number;
  /** Draws the pace of the server in this trial, and the errors of what is known of it. */
  weather: Random;
  /** The seed of its arrivals and service times. */
  seed: number;
  /** Takes fewer steps, as in a comparison that ends once it is decided. */
  isBrief?: boolean;
}

/** Simulates a trial after `earlier` searches of its target, and adds its own. Returns the pace of its server too, relative to that of the queue. */
export function simulateTrial(
  { target, round, queue, promise, seconds, changing, weather, seed, isBrief = false }: SimulatedTrial,
  earlier: FoundCapacity[],
): { trial: Trial; pace: number } {
  const isBusy = queue.workers === undefined || queue.workers === 1;
  const times = isBusy ? Math.exp(changing * weather.normal()) : 1;
  const slowed = slowDown(queue, times);
  const pacePerSecond = paceOf(slowed) * (1 - 0.08 * weather.float());
  const server = new SimulatedServer(slowed, createRandom(seed));
  const search = new CapacitySearch([promise], { seconds, pacePerSecond, earlier, isBrief });
  const steps: Step[] = [];
  for (let step = search.next(); step !== undefined; step = search.next()) {
    const load = server.load(step.perSecond, step.seconds, step.rampSeconds);
    search.add(step, load);
    const { requests, counted } = sharesOf(promise, step.perSecond, load);
    steps.push({
      perSecond: step.perSecond,
      seconds: step.seconds,
      servedPerSecond: load.goodputPerSecond,
      failedShare: 0,
      limit: 'server',
      generatorBusy: 0,
      requests,
      brokenShare: requests === 0 ? 1 : counted / requests,
    });
  }
  const { reasons, ...found } = search.result();
  const capacity = { ...found, pacePerSecond, steps };
  if (found.bound === undefined) earlier.push(capacity);
  const cpuUsPerRequest = 1e6 * slowed.meanSeconds * (1 + 0.01 * weather.normal());
  const measured = sampleMeasured({
    given: {
      capacity,
      ...(isBusy && { cpuUsPerRequest, budget: { by: 'cores', usedCores: 0.9, usableCores: 1 } }),
    },
  });
  const head = { round, connections: 100 };
  const trial =
    reasons.length === 0 ? okTrial(target, measured, head) : suspectTrial(target, measured, reasons, head);
  return { trial, pace: 1 / times };
}

/** Returns the queue with service times this many times as long. */
export function slowDown(queue: Queue, times: number): Queue {
  const { service, meanSeconds } = queue;
  return { ...queue, service: (random) => times * service(random), meanSeconds: times * meanSeconds };
}
