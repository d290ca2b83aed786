/** The hosts that the rounds of a run are spread over, in words. */
import type { JudgedHost } from 'bench-model/run';
import { countOf, formatChange, formatChangeWithin, formatCost, formatShare } from './format.ts';
import type { RoundHost } from './model/definition.ts';

const TOOK_PART: ReadonlySet<JudgedHost['verdict']> = new Set(['reference', 'alike']);

/** More rounds are counted, not listed. */
const MOST_LISTED = 6;

/** The A/A trials of each host in one line: their result and its consequence. */
export function describeJudged(judged: readonly JudgedHost[], threshold: number): string[] {
  return judged.map((host) => `${host.name}: ${describeFigures(host)}${describeVerdict(host, threshold)}`);
}

/** One line for each host: its rounds and its A/A trials, or why it was left out. */
export function describeRoundHosts(hosts: readonly RoundHost[], threshold: number): string[] {
  return hosts.map(({ rounds, ...host }) => {
    const figures = describeFigures(host);
    const aa = host.cpuUsPerRequest === undefined ? figures : `A/A ${figures}`;
    if (rounds.length === 0 && !TOOK_PART.has(host.verdict))
      return `${host.name} left out: ${aa}${describeVerdict(host, threshold)}`;
    return `${describeRounds(rounds)} on ${host.name}, ${aa}`;
  });
}

function describeRounds(rounds: readonly number[]): string {
  if (rounds.length === 0) return 'no round';
  if (rounds.length > MOST_LISTED) return countOf(rounds.length, 'round');
  return `${rounds.length === 1 ? 'round' : 'rounds'} ${rounds.join(', ')}`;
}

/** `36.2 µs of CPU per request, −1.2 % (−3.0 % to +0.9 %)`. */
function describeFigures({ verdict, cpuUsPerRequest, ratio, why }: JudgedHost): string {
  if (cpuUsPerRequest === undefined) return why ?? 'no figure';
  const figure = `${formatCost(cpuUsPerRequest)} µs of CPU per request`;
  if (verdict === 'reference') return `${figure}, the reference`;
  if (ratio === undefined) return figure;
  const { estimate, low, high } = ratio;
  const isBare = low === undefined || high === undefined;
  return `${figure}, ${isBare ? formatChange(estimate) : formatChangeWithin(estimate, { low, high })}`;
}

function describeVerdict({ verdict }: JudgedHost, threshold: number): string {
  if (verdict === 'slower' || verdict === 'faster')
    return `: ${verdict} by more than ${formatShare(threshold)}, so no round runs there`;
  return verdict === 'unknown' ? ': no round runs there' : '';
}
