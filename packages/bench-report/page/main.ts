/** The page of the HTML report: shows the embedded run, filtered by what its address says. */
import type { Page, PageRow } from '../src/html/data.ts';
import { formatAddress, parseAddress, type Filters } from './address.ts';
import { comparisons } from './comparisons.ts';
import { course } from './course.ts';
import { showAnswer } from './answer.ts';
import { disclosure, element, list } from './elements.ts';
import { environment, notes, repeat } from './environment.ts';
import { showFrame } from './frame.ts';
import { ladders } from './ladders.ts';
import { latency } from './latency.ts';
import { outcomes } from './outcomes.ts';
import { problems, trials } from './problems.ts';
import { ranking } from './ranking.ts';
import { rounds } from './rounds.ts';
import { scaling } from './scaling.ts';
import { load } from './load.ts';
import { nameRung, type Section } from './section.ts';
import { giveLooks } from './series.ts';
import { startup } from './startup.ts';
import { times } from './times.ts';
import { timing } from './timing.ts';
import { why } from './why.ts';

const SECTIONS: readonly Section[] = [
  ranking,
  comparisons,
  why,
  scaling,
  ladders,
  load,
  latency,
  timing,
  rounds,
  startup,
  course,
  times,
  outcomes,
  notes,
  problems,
  trials,
  environment,
  repeat,
];

const page = JSON.parse(document.querySelector('#data')?.textContent ?? '') as Page;
const targets = new Set(page.rows.map(({ target }) => target));
const looks = giveLooks([...targets]);

const FILTERS: Filters<PageRow, 'stack' | 'runtime' | 'target' | 'route' | 'connections'> = {
  stack: { label: 'Stack', of: ({ stack }) => stack },
  runtime: { label: 'Runtime', of: ({ runtime }) => runtime, show: (runtime) => runtime || 'none' },
  target: {
    label: 'Target',
    of: ({ target }) => target,
    isHidden: targets.size === new Set(page.rows.map(({ stack, runtime }) => `${runtime} ${stack}`)).size,
  },
  route: {
    label: 'Request',
    of: ({ route = '' }) => route,
    isHidden: page.rows.every(({ route }) => route === undefined),
  },
  connections: {
    label: 'Connections',
    of: ({ connections }) => String(connections),
    show: (connections) => nameRung(Number(connections)),
  },
};

showFrame<PageRow, keyof typeof FILTERS>({
  title: `${page.title} · ${page.run}`,
  head: buildHead(),
  heading: 'Figures',
  rows: page.rows,
  noun: 'row',
  filters: FILTERS,
  metrics: page.metrics
    .map(({ id }) => id)
    .filter((id) => page.rows.some(({ figures }) => figures[id] !== undefined)),
  metric: page.metric,
  sections: SECTIONS.map(({ id, title, build }) => ({
    id,
    title,
    build: (shown) => build({ page, looks, ...shown }),
  })),
  closedOnPaper: '#trials',
});

function buildHead(): Element {
  const begun = page.startedAt === undefined ? '' : `, ${page.startedAt.slice(0, 16).replace('T', ' ')} UTC`;
  return element(
    'header',
    {},
    element('p', { class: 'key' }, `${page.title}: run ${page.run}${begun}`),
    showAnswer(page),
    buildCaveats(),
  );
}

/** What a reader must know before using a figure: folded, unless something is wrong. */
function buildCaveats(): Element {
  const caveats = disclosure(
    'Before you use a figure',
    list(page.caveats),
    page.rows.some(({ trials: all }) => all.some(({ reasons }) => reasons.length > 0))
      ? element('p', {}, linkProblems())
      : undefined,
  );
  caveats.classList.add('caveats');
  caveats.open = page.isDoubtful;
  return caveats;
}

function linkProblems(): Element {
  const choice = parseAddress(location.hash, Object.keys(FILTERS));
  return element(
    'a',
    { href: formatAddress({ ...choice, section: 'problems' }) },
    'What went wrong, and what the servers printed',
  );
}
