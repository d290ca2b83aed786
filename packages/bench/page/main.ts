/** The page of the HTML report: shows the embedded run, filtered by what its address says. */
import { METRICS, type MetricId } from '../src/metrics.ts';
import type { Page, PageRow } from '../src/report/html/data.ts';
import { FILTERS, formatAddress, parseAddress, passes, type Choice, type Filter } from './address.ts';
import { drawCharts } from './chart.ts';
import { comparisons } from './comparisons.ts';
import { course } from './course.ts';
import { disclosure, element, type Content } from './elements.ts';
import { environment, notes, repeat } from './environment.ts';
import { ladders } from './ladders.ts';
import { latency } from './latency.ts';
import { outcomes } from './outcomes.ts';
import { problems, trials } from './problems.ts';
import { ranking } from './ranking.ts';
import { rounds } from './rounds.ts';
import { nameRung, type Section } from './section.ts';
import { giveLooks } from './series.ts';
import { startup } from './startup.ts';
import { times } from './times.ts';
import { timing } from './timing.ts';

const SECTIONS: readonly Section[] = [
  ranking,
  comparisons,
  ladders,
  latency,
  timing,
  rounds,
  startup,
  course,
  times,
  outcomes,
  problems,
  trials,
  environment,
  notes,
  repeat,
];

const NAMES: Record<Filter, string> = {
  stack: 'Stack',
  runtime: 'Runtime',
  target: 'Target',
  connections: 'Connections',
};

/** A filter with more values is folded: the figures come first. */
const MOST_BOXES = 12;

const page = JSON.parse(document.querySelector('#data')?.textContent ?? '') as Page;
const looks = giveLooks([...new Set(page.rows.map(({ target }) => target))]);
let choice: Choice = parseAddress(location.hash);

const links = element('ul');
const status = element('p', { role: 'status', class: 'key' });
const content = element('div');
const form = element('form', { class: 'filters', 'aria-label': 'Filters' });

function choose(change: Partial<Choice>): void {
  choice = { ...choice, ...change };
  // Replacing keeps the way back to where the reader came from.
  history.replaceState(null, '', formatAddress(choice) || '#');
  show();
}

/** Shows the sections for the current choice. */
function show(): void {
  const rows = page.rows.filter((row) => passes(row, choice.filters));
  const metric = metricOf(choice);
  const focused = document.activeElement?.id;
  const context = { page, rows, metric, choice, looks, choose };
  const made = SECTIONS.flatMap(({ id, title, build }) => {
    const inside: Content = rows.length === 0 ? undefined : build(context);
    return inside === undefined
      ? []
      : [
          {
            id,
            title,
            section: element(
              'section',
              { id, 'aria-labelledby': `${id}-title` },
              element('h2', { id: `${id}-title`, tabindex: '-1' }, title),
              inside,
            ),
          },
        ];
  });
  links.replaceChildren(
    ...made.map(({ id, title }) =>
      element('li', {}, element('a', { href: formatAddress({ ...choice, section: id }) }, title)),
    ),
  );
  status.textContent =
    rows.length === 0
      ? 'No row passes the filters: clear one of them.'
      : `${rows.length} of ${page.rows.length} rows are shown.`;
  content.replaceChildren(...made.map(({ section }) => section));
  drawCharts(content);
  if (focused) document.querySelector<HTMLElement>(`#${CSS.escape(focused)}`)?.focus();
}

function metricOf({ metric }: Choice): MetricId {
  return page.metrics.find(({ id }) => id === metric)?.id ?? page.metric;
}

/** Lists the values of a filter. Targets are values if stack and runtime do not select each of them. */
function valuesOf(name: Filter): PageRow[Filter][] {
  const values = [...new Set(page.rows.map((row) => row[name]))];
  const pairs = new Set(page.rows.map(({ stack, runtime }) => `${runtime} ${stack}`));
  return name === 'target' && values.length === pairs.size ? [] : values;
}

/** Builds the filters; one without a choice is left out. */
function buildForm(): void {
  const groups = FILTERS.flatMap((name) => {
    const values = valuesOf(name);
    if (values.length < 2) return [];
    const boxes = values.map((value) => buildBox(name, value));
    return [
      element(
        'fieldset',
        {},
        element('legend', {}, NAMES[name]),
        boxes.length > MOST_BOXES ? foldBoxes(boxes, choice.filters[name].length) : boxes,
      ),
    ];
  });
  const select = element(
    'select',
    { id: 'metric' },
    page.metrics
      .filter(({ id }) => page.rows.some(({ figures }) => figures[id] !== undefined))
      .map(({ id }) => element('option', { value: id }, METRICS[id].label)),
  );
  select.value = metricOf(choice);
  select.addEventListener('change', () => choose({ metric: select.value }));
  const reset = element('button', { type: 'button' }, 'Clear');
  reset.addEventListener('click', () => {
    choose({ ...parseAddress(''), section: choice.section });
    buildForm();
    form.querySelector<HTMLElement>('button')?.focus();
  });
  form.replaceChildren(
    element('div', { class: 'control' }, element('label', { for: 'metric' }, 'Metric'), select),
    ...groups,
    reset,
  );
}

/** Folds the boxes of a filter until the reader opens them, or has chosen some. */
function foldBoxes(boxes: Element[], chosen: number): Element {
  const folded = disclosure(`${boxes.length} to choose from`, boxes);
  folded.open = chosen > 0;
  return folded;
}

function buildBox(name: Filter, value: PageRow[Filter]): Element {
  const text = String(value);
  const box = element('input', { type: 'checkbox' });
  box.checked = choice.filters[name].includes(text);
  box.addEventListener('change', () => {
    const others = choice.filters[name].filter((one) => one !== text);
    choose({ filters: { ...choice.filters, [name]: box.checked ? [...others, text] : others } });
  });
  const label = name === 'connections' ? nameRung(Number(value)) : text === '' ? 'none' : text;
  return element('label', { class: 'chip' }, box, label);
}

/** Moves to the section of the address. */
function goToSection(): void {
  const heading = document.querySelector<HTMLElement>(`#${CSS.escape(choice.section || 'none')}-title`);
  heading?.focus({ preventScroll: true });
  heading?.scrollIntoView();
}

function buildHead(): Element {
  const begun = page.startedAt === undefined ? '' : `, ${page.startedAt.slice(0, 16).replace('T', ' ')} UTC`;
  return element(
    'header',
    {},
    element('p', { class: 'key' }, `Bench report of run ${page.run}${begun}`),
    element('h1', {}, page.title),
    element(
      'div',
      { class: 'answers' },
      page.answers.map(({ heading, sentences }) =>
        element(
          'div',
          { class: 'answer' },
          element('h2', {}, heading),
          sentences.map((sentence) => element('p', {}, sentence)),
        ),
      ),
    ),
    element(
      'div',
      { class: 'caveats' },
      element('h2', {}, 'Before you use a figure'),
      element(
        'ul',
        {},
        page.caveats.map((one) => element('li', {}, one)),
      ),
      page.problems.length + page.leftOut.length === 0
        ? undefined
        : element(
            'p',
            {},
            element(
              'a',
              { href: formatAddress({ ...choice, section: 'problems' }) },
              'What went wrong, and what the servers printed',
            ),
          ),
    ),
  );
}

/** Shows what is closed on the screen on paper, too. */
function printWhole(): void {
  const closed = [...content.querySelectorAll<HTMLDetailsElement>('details:not([open])')].filter(
    (one) => one.closest('#trials') === null,
  );
  for (const one of closed) one.open = true;
  addEventListener('afterprint', () => closed.forEach((one) => (one.open = false)), { once: true });
}

document.title = `${page.title} · ${page.run}`;
document.body.replaceChildren(
  buildHead(),
  element('nav', { 'aria-label': 'Sections' }, links),
  element('main', {}, element('h2', { class: 'hidden' }, 'Figures'), form, status, content),
);
buildForm();
show();
if (choice.section !== '') goToSection();
addEventListener('hashchange', () => {
  choice = parseAddress(location.hash);
  buildForm();
  show();
  goToSection();
});
addEventListener('beforeprint', printWhole);
let width = innerWidth;
addEventListener('resize', () => {
  if (width === innerWidth) return;
  width = innerWidth;
  drawCharts(content);
});
