/**
 * Loads one server by turns with `--new-connections` and with ab, which opens a connection for each request too. Prints, per
 * round and as a ratio with its 95 % interval, the CPU per request and the rate.
 *
 *     pnpm exec node packages/bench-lab/experiments/new-connections/experiment.ts http://127.0.0.1:8000/ [rounds] [seconds]
 *
 * The server must run already, best with one core to itself (`taskset -c 1`). Needs Linux, two cores and ab.
 */
import { openCpuMeter } from 'bench-machine/resources/cpu-meter';
import { run } from 'bench-machine/subprocess';
import { estimateRatio, type Ratio } from 'bench-statistics/ratio';
import type { Trial } from 'bench-model/record';
import { COMMAND } from '../../testing/user.ts';

const [url = '', rounds = '10', seconds = '3'] = process.argv.slice(2);
if (url === '') throw new Error('name the address of a server');
const CONNECTIONS = '10';

/** What one turn found. */
interface Turn {
  cpuUs: number;
  rate: number;
}

async function turnOfBench(): Promise<Turn & { pid: number | undefined }> {
  const load = ['--new-connections', '--connections', CONNECTIONS, '--rounds', '1', '--warmup', '1'];
  const words = ['bench', '--url', url, ...load, '--duration', seconds, '--json'];
  const { stdout } = await run([process.execPath, COMMAND, ...words]);
  const [trial] = (JSON.parse(stdout) as { trials: Trial[] }).trials;
  if (trial === undefined || !('measured' in trial)) throw new Error(`no figures of ${url}`);
  const { load: sent, cpuUsPerRequest = NaN } = trial.measured;
  return { cpuUs: cpuUsPerRequest, rate: sent.goodputPerSecond, pid: trial.process?.pid };
}

async function turnOfAb(pid: number | undefined): Promise<Turn> {
  const meter = openCpuMeter(pid, undefined);
  const before = meter?.readUs() ?? NaN;
  // ab ends after 50,000 requests if -n does not follow -t.
  const load = ['-q', '-c', CONNECTIONS, '-t', seconds, '-n', '10000000'];
  const { stdout } = await run(['taskset', '-c', '0', 'ab', ...load, url]);
  const spent = (meter?.readUs() ?? NaN) - before;
  const read = (label: string): number => Number(new RegExp(`${label}: +([\\d.]+)`).exec(stdout)?.[1]);
  return { cpuUs: spent / read('Complete requests'), rate: read('Requests per second') };
}

const pairs: [Turn, Turn][] = [];
for (let round = 1; round <= Number(rounds); round++) {
  const own = await turnOfBench();
  const other = await turnOfAb(own.pid);
  pairs.push([own, other]);
  const show = ({ cpuUs, rate }: Turn): string => `${cpuUs.toFixed(1)} µs, ${rate.toFixed(0)}/s`;
  console.log(`round ${round}: Bench ${show(own)}; ab ${show(other)}`);
}
const show = ({ estimate, low = NaN, high = NaN }: Ratio): string =>
  `× ${estimate.toFixed(3)} (${low.toFixed(3)} to ${high.toFixed(3)})`;
console.log(`CPU per request, Bench ÷ ab: ${show(estimateRatio(pairs.map(([a, b]) => [a.cpuUs, b.cpuUs])))}`);
console.log(`rate, Bench ÷ ab: ${show(estimateRatio(pairs.map(([a, b]) => [a.rate, b.rate])))}`);
