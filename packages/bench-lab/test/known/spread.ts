import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pWaitFor from 'p-wait-for';
import { expect, it } from 'vitest';
import type { ClusterFile } from 'bench-model/cluster';
import type { Trial } from 'bench-model/record';
import { until, type Place } from '../../../bench/test/cli/cli.ts';
import type { LocalNodes } from '../../../bench-cluster/test/nodes.ts';
import { PLANTED } from './rig.ts';

export interface Nodes {
  /** Its state is that of the nodes. They share a machine, so they measure in turn: each waits for the lock there. */
  place: Place;
  /** Undefined if Ray is missing. */
  nodes: () => LocalNodes | undefined;
  programs: () => number[];
  /** The index of the node that is lost. */
  last: number;
}

const ROUNDS = 3;
/** On a busy machine, all that comes before the rounds takes a while. */
const PATIENCE_MS = 150_000;

const roundsOf = (trials: readonly Trial[]): number[] => [...new Set(trials.map(({ round }) => round))];

/** Tests runs that are spread over nodes of which two have the role of a generator, and removes one of these. */
export function testSpread({ place, nodes, programs, last }: Nodes): void {
  /** The words of a run that is spread over nodes, which have the role of a generator: only one has that of a server. */
  function words(file: Partial<ClusterFile>): string[] {
    const path = join(place.folder, 'bench.cluster.json');
    // Only a host of another kind differs by as much as this from one of the same machine.
    const spread = { hosts: 2, threshold: 0.9 };
    writeFileSync(
      path,
      JSON.stringify({ address: nodes()?.address, roles: { server: 'generator' }, spread, ...file }),
    );
    const options = `--noise --rounds ${ROUNDS} --connections 10 --duration 0.5 --warmup 0.2 --detail`;
    // A slow server costs the hosts little.
    const target = 'planted/delays-5-ms';
    return [target, '--stack', PLANTED, '--cluster', path, ...options.split(' ')];
  }

  it('measures whole rounds on each host, fails the round of a host that is lost, and goes on', async () => {
    const running = place.start('bench', words({}));
    await pWaitFor(() => /begins round 2/.test(running.output), { timeout: PATIENCE_MS });
    await nodes()?.remove(last);
    const { status, stdout } = await running.ended;
    expect(status).toBe(1);
    const trials = place.trials();
    const failed = trials.filter(({ reasons }) => reasons.some(({ code }) => code === 'host-lost'));
    const others = trials.filter((trial) => !failed.includes(trial));
    expect(new Set(roundsOf(trials))).toEqual(new Set([1, 2, 3]));
    expect([roundsOf(failed).length, failed.length, others.length]).toEqual([1, 2, 2 * (ROUNDS - 1)]);
    expect(failed[0]?.reasons[0]?.text).toContain(
      `${failed[0]?.host} did not complete the round of this trial: its host was lost`,
    );
    expect(others.filter(({ status: found }) => found === 'failed')).toEqual([]);
    const hostsOfRounds = Map.groupBy(trials, ({ round }) => round).values();
    for (const round of hostsOfRounds) expect(new Set(round.map(({ host }) => host)).size).toBe(1);
    expect(new Set(others.map(({ host }) => host)).size).toBe(1);
    expect(place.runFile().hosts?.filter(({ verdict }) => verdict === 'alike')).toHaveLength(1);
    expect(stdout).toMatch(/rounds? [\d, ]+ on .+, A\/A [\d.]+ µs of CPU per request/);
    await until(() => programs().length === 0, 'the end of all programs on the hosts');
  }, 240_000);

  it('is not begun with fewer hosts than it needs', async () => {
    const few = await place.run('bench', words({ spread: { hosts: 2 }, deadlineSeconds: 2 }));
    expect(few.stderr).toContain('the cluster has 1 of 2 hosts with the role generator');
    expect(few.status).toBe(1);
    expect(place.trials()).toHaveLength(2 * ROUNDS);
  });
}
