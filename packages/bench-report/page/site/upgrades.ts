import { METRICS } from 'bench-model/metrics';
import { thresholdFor } from 'bench-model/options';
import { formatShare } from '../../src/format.ts';
import type { Site } from '../../src/site/data.ts';
import type { SiteUpgrade } from '../../src/site/upgrades.ts';
import { element, type Column, type Content } from '../elements.ts';
import { FOREST_KEY, showForest, type ForestRow } from '../forest.ts';
import type { Shown } from '../frame.ts';
import { nameRung } from '../section.ts';
import { formatTime, type SiteRow } from './histories.ts';

/** Shows what each version of a runtime changed for each stack: one chart for each machine, workload, rung and stack. */
export function buildUpgrades(site: Site, { rows, metric }: Shown<SiteRow>): Content {
  const kept = new Set(rows.map(({ run, id, connections }) => JSON.stringify([run, id, connections])));
  const shown = site.upgrades.filter(
    ({ by, run, candidate, connections }) =>
      by === metric && kept.has(JSON.stringify([run, candidate, connections])),
  );
  if (shown.length === 0) return undefined;
  const { label, better } = METRICS[metric];
  const links = new Map(site.runs.map(({ run, href }) => [run, href]));
  const columns: Column<SiteUpgrade & ForestRow>[] = [
    { head: 'from', cell: ({ from }) => from, isText: true },
    { head: 'to', cell: ({ to }) => to, isText: true },
    { head: 'builds', cell: ({ builds }) => builds, isText: true },
    { head: 'began (UTC)', cell: ({ startedAt }) => formatTime(startedAt), isText: true },
    { head: 'run', cell: ({ run }) => element('a', { href: links.get(run) }, run), isText: true },
  ];
  return [
    element(
      'p',
      {},
      `${label} of each stack, divided by that on the oldest version of the runtime in the run, or without the switch, such as the JIT. Both ran in one run, and are paired by round. 1 means no difference; ${better === 'lower' ? 'left' : 'right'} of it is better. The grey band is ±${formatShare(thresholdFor(metric))}.`,
    ),
    element(
      'p',
      { class: 'key' },
      `${FOREST_KEY} †: the builds of the two differ, or are not known, so it may not be the version alone.`,
    ),
    [...Map.groupBy(shown, ({ machine }) => machine)].map(([machine, own]) => [
      element('h3', {}, machine),
      element(
        'div',
        { class: 'grid' },
        [...Map.groupBy(own, nameChart)]
          .toSorted(([a], [b]) => a.localeCompare(b))
          .map(([name, all]) =>
            showForest(name, toForest(all), columns, {
              caption: `${name}, ${machine}`,
              better,
              threshold: thresholdFor(metric),
            }),
          ),
      ),
    ]),
  ];
}

function nameChart({ stack, route, workload, connections }: SiteUpgrade): string {
  return `${[stack, route].filter(Boolean).join(' ')}, ${workload} at ${nameRung(connections)}`;
}

/** Orders the steps by version and the runs of a step by time, and numbers the latter. */
function toForest(upgrades: readonly SiteUpgrade[]): (SiteUpgrade & ForestRow)[] {
  const steps = Map.groupBy(
    upgrades,
    ({ from, to, builds }) => `${from} → ${to}${builds === 'alike' ? '' : ' †'}`,
  );
  return [...steps]
    .toSorted(([a], [b]) => a.localeCompare(b, 'en', { numeric: true }))
    .flatMap(([step, all]) =>
      all.map((one, index) => ({ ...one, name: all.length > 1 ? `${step} (${index + 1})` : step })),
    );
}
