import { get } from 'node:http';
import type { Stack, Variant } from '../catalogue/stack.ts';
import type { Attestation } from '../model.ts';
import type { Calibrated } from '../results/calibration.ts';
import type { Measured, Trial } from '../results/record.ts';
import { mean } from '../numbers.ts';

/** One planted server, its load, and its known answer. */
export interface Scenario {
  name: string;
  /** Options of the planted server besides its ports. */
  faults: string[];
  program: 'server' | 'threads';
  connections: number;
  /** Length of the window. */
  seconds: number;
  /** Starts per second; a closed loop without it. */
  rate?: number;
}

/** The known answer that a planted server should yield. */
export interface Check {
  name: string;
  unit: string;
  /** The largest allowed difference between reported and measured; without it, the row explains the one above. */
  tolerance?: (told: number) => number;
  scenarios: string[];
  /** Computed from the readings of each scenario, in order. */
  told: (...readings: Reading[][]) => number | undefined;
  measured: (...readings: Reading[][]) => number | undefined;
}

/** A measured scenario: the figures of Bench, and the account of the server over the same load. */
export interface Reading {
  trial: Trial;
  before: Account;
  after: Account;
  /** The median latency of bare sockets right before, in µs; only if latency is checked. */
  bareMedianUs?: number;
}

/** The parts of the planted server's account that are compared. */
export interface Account {
  requests: { read: number };
  burn: { burns: number; burnedUs: number };
  memory: { allocatedBytes: number };
  latencyUs: { count: number; p50?: number };
  cpu: { userUs: number; systemUs: number };
}

const BURN_US = 300;
const THREAD_BURN_US = 1000;
const MEBIBYTES = 64;

/**
 * Twins get the same open loop: in a closed loop, the costlier one would sleep less, and waking up costs CPU too. They
 * alternate in eight windows, so that disturbances of the machine affect both; each gets 100,000 requests in total.
 */
const TWINS = { connections: 50, rate: 1600, seconds: 16 };
const THREADS = { connections: 50, rate: 400, seconds: 6 };
/** Long enough to touch all pages of one twin, and for both to have served. */
const MEMORY = { connections: 10, rate: 1000, seconds: 2 };

/** The windows of twins, in an order that favours neither under a drift. */
function alternate(plain: Scenario, planted: Scenario): Scenario[] {
  return [plain, planted, planted, plain, plain, planted, planted, plain];
}

/** The measured scenarios, in order. */
export const SCENARIOS: Scenario[] = [
  { name: '1 ms at 4', faults: ['--delay-ms', '1'], program: 'server', connections: 4, seconds: 4 },
  { name: '5 ms at 1', faults: ['--delay-ms', '5'], program: 'server', connections: 1, seconds: 4 },
  { name: '5 ms at 20', faults: ['--delay-ms', '5'], program: 'server', connections: 20, seconds: 4 },
  { name: '50 ms at 100', faults: ['--delay-ms', '50'], program: 'server', connections: 100, seconds: 4 },
  ...alternate(
    { name: 'no burn', faults: [], program: 'server', ...TWINS },
    { name: 'burn', faults: ['--burn-us', String(BURN_US)], program: 'server', ...TWINS },
  ),
  ...alternate(
    { name: 'threads, no burn', faults: [], program: 'threads', ...THREADS },
    { name: 'threads, burn', faults: ['--burn-us', String(THREAD_BURN_US)], program: 'threads', ...THREADS },
  ),
  { name: 'no allocation', faults: [], program: 'server', ...MEMORY },
  { name: 'allocation', faults: ['--allocate-mib', String(MEBIBYTES)], program: 'server', ...MEMORY },
];

/** The known answers. */
export const CHECKS: Check[] = [
  ...SCENARIOS.filter(isLatencyScenario).flatMap(({ name }) => [checkMedian(name), checkBareMedian(name)]),
  checkBurn('CPU of a burn, as the difference of twins', 'no burn', 'burn'),
  checkBurn('CPU of a burn in threads that have ended', 'threads, no burn', 'threads, burn'),
  checkOwnAccount('CPU per request against the server’s own rusage', 'burn'),
  {
    name: `memory of ${MEBIBYTES} MiB, as the difference of twins`,
    unit: 'MiB',
    tolerance: share(0.05),
    scenarios: ['no allocation', 'allocation'],
    told: (_, planted = []) => meanOf(planted, ({ after }) => mebibytes(after.memory.allocatedBytes)),
    measured: (plain = [], planted = []) =>
      difference(meanOf(plain, loadedMebibytes), meanOf(planted, loadedMebibytes)),
  },
];

/** Returns true if a scenario checks latency: a closed loop with a planted delay. */
export function isLatencyScenario({ rate, faults }: Scenario): boolean {
  return rate === undefined && faults.includes('--delay-ms');
}

/**
 * Compares with bare sockets: both include the time to wake the cores. This is not a known answer, because bare sockets
 * send bursts faster. But it separates the machine's part of a bias from the driver's.
 */
function checkBareMedian(scenario: string): Check {
  const { tolerance: _, ...check } = checkMedian(scenario);
  return {
    ...check,
    name: `  the same against bare sockets`,
    told: (readings = []) => meanOf(readings, ({ bareMedianUs }) => bareMedianUs),
  };
}

function checkMedian(scenario: string): Check {
  return {
    name: `median latency, ${scenario} ${scenario.endsWith(' at 1') ? 'connection' : 'connections'}`,
    unit: 'µs',
    tolerance: (told) => Math.max(0.03 * told, 200),
    scenarios: [scenario],
    told: (readings = []) => meanOf(readings, ({ after }) => after.latencyUs.p50),
    measured: (readings = []) => meanOf(readings, (reading) => measuredOf(reading)?.load.latencyUs?.p50),
  };
}

function checkBurn(name: string, plain: string, planted: string): Check {
  return {
    name,
    unit: 'µs per request',
    tolerance: share(0.05),
    scenarios: [plain, planted],
    told: (_, burning = []) =>
      meanOf(
        burning,
        ({ before, after }) =>
          (after.burn.burnedUs - before.burn.burnedUs) / (after.burn.burns - before.burn.burns),
      ),
    measured: (idle = [], burning = []) => difference(meanOf(idle, costOf), meanOf(burning, costOf)),
  };
}

function checkOwnAccount(name: string, scenario: string): Check {
  return {
    name,
    unit: 'µs per request',
    tolerance: share(0.05),
    scenarios: [scenario],
    told: (readings = []) =>
      meanOf(
        readings,
        ({ before, after }) => (spent(after) - spent(before)) / (after.requests.read - before.requests.read),
      ),
    measured: (readings = []) => meanOf(readings, costOf),
  };
}

/** The mean of a figure over the readings; undefined if one reading lacks it. */
function meanOf(readings: Reading[], of: (reading: Reading) => number | undefined): number | undefined {
  const figures = readings.map(of);
  const known = figures.filter((figure) => figure !== undefined);
  if (known.length === 0 || known.length < figures.length) return undefined;
  return mean(known);
}

function spent({ cpu }: Account): number {
  return cpu.userUs + cpu.systemUs;
}

function costOf(reading: Reading): number | undefined {
  return measuredOf(reading)?.cpuUsPerRequest;
}

function loadedMebibytes(reading: Reading): number | undefined {
  return mebibytes(measuredOf(reading)?.server?.loadedBytes);
}

function share(part: number): (told: number) => number {
  return (told) => part * told;
}

function measuredOf({ trial }: Reading): Measured | undefined {
  return trial.status === 'failed' ? undefined : trial.measured;
}

function mebibytes(bytes: number | undefined): number | undefined {
  return bytes === undefined ? undefined : bytes / 2 ** 20;
}

function difference(plain: number | undefined, planted: number | undefined): number | undefined {
  return plain === undefined || planted === undefined ? undefined : planted - plain;
}

/** Compares the measured figures with those that the planted servers reported. */
export function evaluate(readings: Map<string, Reading[]>): Calibrated[] {
  return CHECKS.map(({ name, unit, tolerance, scenarios, told, measured }) => {
    const found = scenarios.map((scenario) => readings.get(scenario) ?? []);
    const said = told(...found);
    const got = measured(...found);
    if (said === undefined || got === undefined) return { name, unit, inside: false };
    const figures = { name, unit, told: said, measured: got };
    if (tolerance === undefined) return { ...figures, inside: true };
    const allowed = tolerance(said);
    return { ...figures, tolerance: allowed, inside: Math.abs(got - said) <= allowed };
  });
}

/** Builds the planted stack with one variant per scenario, from the variants of its two programs. */
export function plantScenarios(planted: Stack): Stack {
  const variants = SCENARIOS.map(({ name, program, faults }): [string, Variant] => {
    const base = planted.variants[program === 'server' ? 'steady' : 'threads'];
    if (base === undefined)
      throw new Error(`${planted.manifest} has lost the variant that calibration builds on`);
    return [variantOf(name), { ...base, command: [...base.command, ...faults] }];
  });
  return { ...planted, default: variantOf(SCENARIOS[0]?.name ?? ''), variants: Object.fromEntries(variants) };
}

/** The name of a scenario's variant, as one word. */
export function variantOf(scenario: string): string {
  return scenario.replaceAll(/\W+/g, '-').toLowerCase();
}

/** Reads the account of the planted server with this attestation. If `restart` is true, its latencies start anew. */
export async function readAccount(attested: Attestation | undefined, restart: boolean): Promise<Account> {
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
