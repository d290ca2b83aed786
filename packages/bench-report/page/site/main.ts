/** The page of the index over stored runs: each target over time, and the runs with links to their reports. */
import type { Site } from '../../src/site/data.ts';
import type { Filters } from '../address.ts';
import { element } from '../elements.ts';
import { showFrame } from '../frame.ts';
import { nameRung } from '../section.ts';
import { giveLooks } from '../series.ts';
import { buildHistories, type SiteRow } from './histories.ts';
import { buildRuns, buildSkipped } from './runs.ts';
import { buildUpgrades } from './upgrades.ts';

const FILTERS: Filters<SiteRow, 'machine' | 'workload' | 'connections' | 'target'> = {
  machine: { label: 'Machine', of: ({ machine }) => machine },
  workload: { label: 'Workload', of: ({ workload }) => workload },
  connections: {
    label: 'Connections',
    of: ({ connections }) => String(connections),
    show: (connections) => nameRung(Number(connections)),
  },
  target: { label: 'Target', of: ({ target }) => target },
};

const site = JSON.parse(document.querySelector('#data')?.textContent ?? '') as Site;
const rows = site.histories.flatMap(({ machine, workload, points }) =>
  points.map((point): SiteRow => ({ ...point, machine, workload })),
);
const looks = giveLooks([...new Set(rows.map(({ target }) => target))]);
const times = site.runs.flatMap(({ startedAt }) => startedAt?.slice(0, 10) ?? []).toSorted();
const span = [...new Set([times[0], times.at(-1)])].filter((day) => day !== undefined).join(' to ');

showFrame<SiteRow, keyof typeof FILTERS>({
  title: `${site.title} · Bench results`,
  head: element(
    'header',
    {},
    element('p', { class: 'key' }, `Bench results${span === '' ? '' : `, ${span}`}`),
    element('h1', {}, site.title),
  ),
  heading: 'Results',
  rows,
  noun: 'figure',
  filters: FILTERS,
  metrics: site.metrics,
  metric: site.metric,
  sections: [
    {
      id: 'runs',
      title: 'Runs',
      build: (shown) => buildRuns(site, shown, rows.length),
      needsNoRow: true,
    },
    { id: 'upgrades', title: 'Upgrades', build: (shown) => buildUpgrades(site, shown) },
    { id: 'history', title: 'Over time', build: (shown) => buildHistories(site, looks, shown) },
    { id: 'skipped', title: 'Not shown', build: () => buildSkipped(site), needsNoRow: true },
  ],
});
