/** Measures planted servers, which know what they do: twins in turns, and latency by turns with bare sockets. */
import { get } from 'node:http';
import type { Stack, Variant } from 'bench-model/stack';
import type { Look } from 'bench-targets/catalogue/looks';
import { percentileSince } from 'bench-statistics/histogram';
import { judgeMachine } from 'bench-analysis/judge/judge';
import { BareClient } from 'bench-load/bare';
import type { LoadSession } from 'bench-load/engine';
import type { Server } from 'bench-machine/launch';
import type { PinnedCommands } from 'bench-machine/placement';
import type { Attestation } from 'bench-model/target';
import type { LoadMode } from 'bench-model/settings';
import type { Plan, PlannedTrial } from 'bench-model/plan';
import { benchOptions, type BenchOptions } from 'bench-model/options';
import { makePlan } from 'bench-http/plan/plan';
import type { Prepared } from 'bench-targets/prepare/prepare';
import { joinSampled, type Sampled } from 'bench-machine/resources/sampler';
import type {
  Account,
  CalibrationRound,
  FailedRound,
  LatencyRound,
  LatencyScenario,
  MeasuredTwin,
  PlantedServer,
  Scenario,
  SeenLatency,
  Stalls,
  TwinRound,
  TwinScenario,
} from 'bench-model/calibration';
import type { HostWindow } from 'bench-model/measured';
import type { Trial } from 'bench-model/record';
import { measureTogether, type Entry } from 'bench-http/measure/conductor';
import { ServerLife, type ReadyServer, type TrialEffects } from 'bench-http/measure/life';
import { accountFor } from 'bench-http/measure/window';

const BURN_US = 300;
const THREAD_BURN_US = 1000;
const PLANTED_MEBIBYTES = 64;

/** The measured scenarios, in order. */
export const SCENARIOS: readonly Scenario[] = [
  delay(1, 4),
  delay(5, 1),
  delay(5, 20),
  delay(50, 100),
  delay(1, 100, 100),
  delay(1, 100, 1000),
  delay(5, 100, 100),
  delay(5, 100, 1000),
  delay(50, 100, 100),
  delay(50, 100, 1000),
  stall({ everyMs: 250, ms: 100, percentile: 90 }, 10, 1000),
  {
    kind: 'twins',
    name: 'burn',
    plain: { name: 'no burn', program: 'server', faults: [] },
    planted: { name: 'burn', program: 'server', faults: ['--burn-us', String(BURN_US)] },
    connections: 50,
    rate: 1600,
    windowSeconds: 2,
    answers: { burn: `${BURN_US} µs burned`, rusage: 'all, by its rusage' },
  },
  {
    kind: 'twins',
    name: 'burn in threads',
    plain: { name: 'threads, no burn', program: 'threads', faults: [] },
    planted: { name: 'threads, burn', program: 'threads', faults: ['--burn-us', String(THREAD_BURN_US)] },
    connections: 50,
    rate: 400,
    windowSeconds: 2,
    answers: { burn: `${THREAD_BURN_US / 1000} ms in ended threads`, rusage: 'all, by their rusage' },
  },
  {
    kind: 'twins',
    name: 'allocation',
    plain: { name: 'no allocation', program: 'server', faults: [] },
    planted: { name: 'allocation', program: 'server', faults: ['--allocate-mib', String(PLANTED_MEBIBYTES)] },
    connections: 10,
    rate: 1000,
    windowSeconds: 1,
    answers: { memory: `${PLANTED_MEBIBYTES} MiB allocated` },
  },
];

function delay(delayMs: number, connections: number, rate?: number): LatencyScenario {
  const name = rate === undefined ? `${delayMs} ms at ${connections}` : `${delayMs} ms at ${rate}/s`;
  const server = { name, program: 'server' as const, faults: ['--delay-ms', String(delayMs)] };
  return { kind: 'latency', name, server, connections, ...(rate === undefined ? {} : { rate }) };
}

/**
 * Whole intervals fit into a turn, so that its share of stalls is exact. The connections are too few for the requests of a
 * stall: those that wait for one would be missing, or fast, if latency counted from the time of sending.
 */
function stall(stalls: Stalls, connections: number, rate: number): LatencyScenario {
  const name = `${stalls.ms} ms stalls at ${rate}/s`;
  const faults = ['--stall-every', String(stalls.everyMs), '--stall-ms', String(stalls.ms)];
  return { kind: 'latency', name, server: { name, program: 'server', faults }, connections, rate, stalls };
}

/**
 * Returns a percentile of the latencies in an open loop whose server stalls, in µs. At a fixed rate, a share of S/T of the
 * requests is due during stalls of S every T. They wait evenly between 0 and S, and the others 0, so that (S − x)/T of all
 * wait longer than x, and percentile p is S − (1 − p/100) T. It is the arithmetic of Tene's example of coordinated omission
 * ("How NOT to Measure Latency"): 100 s of stall in 200 s make p75 50 s.
 */
export function latencyOfStalls({ everyMs, ms, percentile }: Stalls): number {
  return 1000 * Math.max(0, ms - (1 - percentile / 100) * everyMs);
}

/** The control of a calibration. */
interface CalibrationEffects {
  /** Measures more rounds of a scenario. */
  measure: (scenario: Scenario, rounds: number) => Promise<CalibrationRound[]>;
  /** Returns true if more rounds of a scenario would not change a verdict. */
  isSettled: (scenario: Scenario, rounds: readonly CalibrationRound[]) => boolean;
  /** Returns true if the budget is used up or the command was interrupted. */
  isOver: () => boolean;
}

/**
 * Measures each scenario until its first look, then those that are undecided until the next one. A round that the machine
 * disturbed is thereby repeated while there is time, minutes later than its neighbours.
 */
export async function calibrate(
  scenarios: readonly Scenario[],
  looks: readonly Look[],
  { measure, isSettled, isOver }: CalibrationEffects,
): Promise<Map<string, CalibrationRound[]>> {
  const measured = new Map(scenarios.map(({ name }): [string, CalibrationRound[]] => [name, []]));
  for (const { rounds: due } of looks) {
    for (const scenario of scenarios) {
      const rounds = measured.get(scenario.name) ?? [];
      if (isOver()) return measured;
      if (rounds.length > 0 && isSettled(scenario, rounds)) continue;
      rounds.push(...(await measure(scenario, due - rounds.length)));
    }
  }
  return measured;
}

/** The servers of a scenario. */
export function serversOf(scenario: Scenario): PlantedServer[] {
  return scenario.kind === 'latency' ? [scenario.server] : [scenario.plain, scenario.planted];
}

/** Builds the planted stack with one variant per server of the scenarios, from the variants of its two programs. */
export function plantScenarios(planted: Stack): Stack {
  const servers = SCENARIOS.flatMap(serversOf);
  const variants = servers.map(({ name, program, faults }): [string, Variant] => {
    const base = planted.variants[program === 'server' ? 'steady' : 'threads'];
    if (base === undefined)
      throw new Error(`${planted.manifest} has lost the variant that calibration builds on`);
    return [variantOf(name), { ...base, command: [...base.command, ...faults] }];
  });
  return { ...planted, default: variantOf(servers[0]?.name ?? ''), variants: Object.fromEntries(variants) };
}

/** The name of a server's variant, as one word. */
function variantOf(name: string): string {
  return name.replaceAll(/\W+/g, '-').toLowerCase();
}

/** Plans the rounds of a scenario. Every trial is a fresh server. */
export function planScenario(
  scenario: Scenario,
  stack: Stack,
  { run, seed, rounds }: { run: string; seed: number; rounds: number },
): Plan {
  const load: Partial<BenchOptions> = {
    ...(scenario.kind === 'twins' ? { windowSeconds: scenario.windowSeconds } : {}),
    ...(scenario.rate === undefined ? {} : { load: { mode: 'open', perSecond: scenario.rate } }),
  };
  const targets = serversOf(scenario).map(({ name }) => `${stack.name}/${variantOf(name)}`);
  const options = benchOptions({
    targets,
    rounds,
    connections: [scenario.connections],
    warmupSeconds: 0.5,
    ...load,
  });
  return makePlan(options, [stack], run, seed);
}

/** The inputs of all rounds. */
export interface CalibrationContext {
  plan: Plan;
  placed: PinnedCommands;
  prepared: readonly Prepared[];
  effects: TrialEffects;
  /** Stores the trials of a round. */
  record: (trials: Trial[]) => void;
}

/** Measures fresh twins, one after the other: the trials of this round of the plan. */
export async function measureTwins(
  { plain, planted }: TwinScenario,
  round: number,
  setup: CalibrationContext,
): Promise<TwinRound | FailedRound> {
  const { plan, effects, record } = setup;
  const accounts = new Map<string, Account[]>();
  const targets = new Map<Server, string>();
  const noting: TrialEffects = {
    ...effects,
    async launch(prepared, planned, draw) {
      const server = await effects.launch(prepared, planned, draw);
      targets.set(server, planned.target);
      return server;
    },
    async resources(server, companions) {
      const sampler = await effects.resources(server, companions);
      if (sampler === undefined) return undefined;
      const own: Account[] = [];
      accounts.set(targets.get(server) ?? '', own);
      // The account spans exactly what is sampled.
      return {
        idle: () => sampler.idle(),
        async start(ours) {
          own.push(await readAccount(server.attestations()[0]));
          await sampler.start(ours);
        },
        async stop() {
          const sampled = await sampler.stop();
          own.push(await readAccount(server.attestations()[0]));
          return sampled;
        },
        [Symbol.dispose]: () => sampler[Symbol.dispose](),
      };
    },
  };
  const trials: Trial[] = [];
  for (const planned of plan.trials.filter((one) => one.round === round))
    trials.push(...(await measureTogether([entryOf(planned, setup)], noting)));
  record(trials);
  const host = hostOf(trials);
  const twinOf = ({ name }: PlantedServer): MeasuredTwin | undefined => {
    const trial = trials.find(({ target }) => target.variant === variantOf(name));
    const own = accounts.get(trial?.target.id ?? '') ?? [];
    const [before, after] = [own[0], own.at(-1)];
    if (trial === undefined || before === undefined || after === undefined) return undefined;
    return trial.status === 'failed' ? undefined : { trial, before, after };
  };
  const twins = { plain: twinOf(plain), planted: twinOf(planted) };
  if (twins.plain !== undefined && twins.planted !== undefined)
    return {
      kind: 'twins',
      host,
      disturbances: judgeMachine(host),
      plain: twins.plain,
      planted: twins.planted,
    };
  return failedRound(trials, host);
}

const RAMP_SECONDS = 0.06;
/** The window of each client in a round. */
const SPAN_SECONDS = 0.5;
/** The load of each client before its first round. */
const LEAD_SECONDS = 1;

/** Loads a fresh server, the `nth` of the plan, with the driver and with bare sockets in turn. Returns the rounds until a failure. */
export async function measureLatency(
  scenario: LatencyScenario,
  nth: number,
  rounds: number,
  setup: CalibrationContext & { isOver: () => boolean },
): Promise<(LatencyRound | FailedRound)[]> {
  const { plan, effects, record, isOver } = setup;
  const planned = plan.trials.find(({ round }) => round === nth);
  if (planned === undefined) throw new Error(`the plan has no round ${nth}`);
  const entry = entryOf(planned, setup);
  const life = new ServerLife(entry.planned, entry.context, effects);
  const measured: LatencyRound[] = [];
  try {
    const ready = await life.start();
    await using session = effects.load().open(ready.spec, 1);
    await using _ = accountFor(session, (counts) => life.account(counts));
    await session.arm();
    const { host, port, requests } = ready.spec;
    const path = requests[0]?.path ?? '/';
    using bare = await BareClient.open({ host, port, path, connections: bareConnections(scenario) });
    const clients = openClients(session, bare, plan.load, scenario.stalls);
    await clients.driver(LEAD_SECONDS);
    await clients.bare(LEAD_SECONDS);
    const samples: Sampled[] = [];
    while (measured.length < rounds && !isOver()) {
      const { sampled, ...round } = await takeRound(ready, session, clients, {
        isBareFirst: measured.length % 2 === 1,
        knownUs: scenario.stalls && latencyOfStalls(scenario.stalls),
      });
      samples.push(sampled);
      measured.push(round);
    }
    await life.afterLoad();
    // The server was loaded by both clients, so its resources are not those of the driver's load.
    const sampled = { host: joinSampled(samples)?.host ?? {} };
    if (session.turns !== undefined) await life.take({ load: await session.turns.collect(), sampled });
  } catch (error) {
    life.fail(error);
  }
  const [trial] = await life.end();
  record([trial]);
  const isFailed = trial.status === 'failed' && !isOver();
  return isFailed ? [...measured, failedRound([trial], {})] : measured;
}

/** Bare sockets count from the time of sending, so each request of a stall needs a free one. They get twice as many. */
function bareConnections({ connections, rate = 0, stalls }: LatencyScenario): number {
  return stalls === undefined ? connections : Math.ceil((2 * rate * stalls.ms) / 1000);
}

/** Takes one turn with each client. The known latency is, without `knownUs`, what the server recorded in each turn. */
async function takeRound(
  { server, sampler }: ReadyServer,
  { pids }: LoadSession,
  clients: Clients,
  { isBareFirst, knownUs }: { isBareFirst: boolean; knownUs: number | undefined },
): Promise<LatencyRound & { sampled: Sampled }> {
  const attested = server.attestations()[0];
  const seen: Partial<Record<keyof Clients, SeenLatency>> = {};
  await sampler?.start(pids);
  for (const name of isBareFirst ? (['bare', 'driver'] as const) : (['driver', 'bare'] as const)) {
    await readAccount(attested, true);
    const measuredUs = await clients[name](SPAN_SECONDS);
    const reportedUs = knownUs ?? (await readAccount(attested)).latencyUs.p50;
    if (reportedUs === undefined) throw new Error('the planted server recorded no latency');
    seen[name] = { measuredUs, reportedUs };
  }
  const sampled = (await sampler?.stop()) ?? { host: {} };
  const { driver, bare } = seen as Record<keyof Clients, SeenLatency>;
  const { host } = sampled;
  return { kind: 'latency', host, disturbances: judgeMachine(host), driver, bare, sampled };
}

/** Two clients of one server. Each takes a turn of some seconds and returns a percentile of its latencies in µs. */
type Clients = Record<'driver' | 'bare', (windowSeconds: number) => Promise<number>>;

function openClients(
  session: LoadSession,
  bare: BareClient,
  load: LoadMode,
  stalls: Stalls | undefined,
): Clients {
  const { turns } = session;
  if (turns === undefined) throw new Error('the driver takes no short turns');
  const perSecond = load.mode === 'open' ? load.perSecond : undefined;
  const { percentile = 50, ms = 0 } = stalls ?? {};
  // It is longer than a stall, so that no request of the first one in the window is missing.
  const rampSeconds = Math.max(RAMP_SECONDS, (1.2 * ms) / 1000);
  let earlier: string | undefined;
  return {
    async driver(windowSeconds) {
      if (perSecond === undefined) await turns.take({ rampSeconds, windowSeconds });
      else await session.fire({ warmupSeconds: rampSeconds, windowSeconds, load }, () => {});
      const { latencyHistogram: later } = await turns.collect();
      if (later === undefined || later === earlier) throw new Error('no answer in a turn of the driver');
      const us = percentileSince(percentile, earlier, later);
      earlier = later;
      return us;
    },
    bare: (windowSeconds) => bare.takePercentile(percentile, { rampSeconds, windowSeconds, perSecond }),
  };
}

function entryOf(planned: PlannedTrial, { plan, placed, prepared }: CalibrationContext): Entry {
  const found = prepared.find(({ target }) => target.id === planned.target);
  if (found === undefined) throw new Error(`${planned.target} is not prepared`);
  return { planned, context: { plan, placed, prepared: found, target: found.target } };
}

/** The machine during the trial that it disturbed most. */
function hostOf(trials: readonly Trial[]): HostWindow {
  const hosts = trials.flatMap((trial) => (trial.status === 'failed' ? [] : [trial.measured.host]));
  return hosts.toSorted((a, b) => lostCores(b) - lostCores(a))[0] ?? {};
}

function lostCores({ otherProcessesCores = 0, stealCores = 0 }: HostWindow): number {
  return otherProcessesCores + stealCores;
}

function failedRound(trials: readonly Trial[], host: HostWindow): FailedRound {
  const failed = trials.find(({ status }) => status === 'failed');
  const why = failed?.reasons[0]?.text ?? 'it gave no figures';
  return { kind: 'failed', host, disturbances: judgeMachine(host), why };
}

/** Reads the account of the planted server with this attestation. If `restart` is true, its latencies start anew. */
export async function readAccount(attested: Attestation | undefined, restart = false): Promise<Account> {
  const port = attested?.['accountPort'];
  if (typeof port !== 'number') throw new Error('the planted server has not said where its account is');
  return new Promise((resolve, reject) => {
    get(
      { host: '127.0.0.1', port, path: restart ? '/account?latency=restart' : '/account', agent: false },
      (response) => {
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (piece: string) => {
          text += piece;
        });
        response.on('end', () => resolve(JSON.parse(text) as Account));
      },
    ).on('error', reject);
  });
}
