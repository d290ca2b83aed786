/** The frame of a page: its head, the links to its sections, and filters whose state is in its address. */
import { METRICS, type MetricId } from 'bench-model/metrics';
import { formatAddress, parseAddress, passes, type Choice, type Filter, type Filters } from './address.ts';
import { drawCharts } from './chart.ts';
import { disclosure, element, type Content } from './elements.ts';

/** The state that a section is built from. */
export interface Shown<Row> {
  /** The rows that pass the filters. */
  rows: Row[];
  metric: MetricId;
  choice: Choice;
  /** Changes the choice and shows the page again. */
  choose: (change: Partial<Choice>) => void;
}

/** A part of a page. It is left out if `build` returns nothing. */
interface FrameSection<Row> {
  id: string;
  title: string;
  build: (shown: Shown<Row>) => Content;
}

/** A page of rows with filters. */
interface Frame<Row, Name extends string> {
  title: string;
  head: Element;
  /** The heading of the filters and sections, for screen readers. */
  heading: string;
  rows: readonly Row[];
  /** One row in words: `row`. */
  noun: string;
  filters: Filters<Row, Name>;
  /** The metrics to choose from. */
  metrics: readonly MetricId[];
  /** The metric that the page opens with. */
  metric: MetricId;
  sections: readonly FrameSection<Row>[];
  /** The selector of the parts that stay closed on paper. */
  closedOnPaper?: string;
}

/** A filter with more values is folded: the figures come first. */
const MOST_BOXES = 8;

/** The width of a chart on A4 or Letter with the margins of the style, in CSS pixels. */
const PAPER_WIDTH = 690;

/** Shows a page and keeps it in step with its address. */
export function showFrame<Row, Name extends string>(frame: Frame<Row, Name>): void {
  const names = Object.keys(frame.filters) as Name[];
  let choice = parseAddress(location.hash, names);

  const links = element('ul');
  const status = element('p', { role: 'status', class: 'key' });
  const paper = element('p', { class: 'paper' });
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
    const rows = frame.rows.filter((row) => passes(row, frame.filters, choice.filters));
    const shown = { rows, metric: metricOf(frame, choice), choice, choose };
    const focused = document.activeElement?.id;
    const made = frame.sections.flatMap(({ id, title, build }) => {
      const inside = rows.length === 0 ? undefined : build(shown);
      return inside === undefined ? [] : [{ id, title, section: buildSection(id, title, inside) }];
    });
    links.replaceChildren(
      ...made.map(({ id, title }) =>
        element('li', {}, element('a', { href: formatAddress({ ...choice, section: id }) }, title)),
      ),
    );
    status.textContent =
      rows.length === 0
        ? `No ${frame.noun} passes the filters: clear one of them.`
        : `${rows.length} of ${frame.rows.length} ${frame.noun}s are shown.`;
    paper.textContent = `${status.textContent} ${describeChoice(frame, shown)}`;
    content.replaceChildren(...made.map(({ section }) => section));
    drawCharts(content);
    if (focused) document.querySelector<HTMLElement>(`#${CSS.escape(focused)}`)?.focus();
  }

  /** Builds the filters; one with a single value is left out. */
  function buildForm(): void {
    const groups = names.flatMap((name): Element[] => {
      const values = [...new Set(frame.rows.map(frame.filters[name].of))];
      const { label, isHidden = false } = frame.filters[name];
      if (values.length < 2 || isHidden) return [];
      const boxes = values.map((value) => buildBox(name, value));
      const inside = boxes.length > MOST_BOXES ? foldBoxes(boxes, choice.filters[name].length) : boxes;
      return [element('fieldset', {}, element('legend', {}, label), inside)];
    });
    const select = element(
      'select',
      { id: 'metric' },
      frame.metrics.map((id) => element('option', { value: id }, METRICS[id].label)),
    );
    select.value = metricOf(frame, choice);
    select.addEventListener('change', () => choose({ metric: select.value }));
    const reset = element('button', { type: 'button' }, 'Clear');
    reset.addEventListener('click', () => {
      choose({ ...parseAddress('', names), section: choice.section });
      buildForm();
      form.querySelector<HTMLElement>('button')?.focus();
    });
    form.replaceChildren(
      element('div', { class: 'control' }, element('label', { for: 'metric' }, 'Metric'), select),
      ...groups,
      reset,
    );
  }

  function buildBox(name: Name, value: string): Element {
    const filter: Filter<Row> = frame.filters[name];
    const box = element('input', { type: 'checkbox' });
    box.checked = choice.filters[name].includes(value);
    box.addEventListener('change', () => {
      const others = choice.filters[name].filter((one) => one !== value);
      choose({ filters: { ...choice.filters, [name]: box.checked ? [...others, value] : others } });
    });
    return element('label', { class: 'chip' }, box, filter.show?.(value) ?? value);
  }

  /** Moves to the section of the address. */
  function goToSection(): void {
    const heading = document.querySelector<HTMLElement>(`#${CSS.escape(choice.section || 'none')}-title`);
    heading?.focus({ preventScroll: true });
    heading?.scrollIntoView();
  }

  document.title = frame.title;
  document.body.replaceChildren(
    frame.head,
    element('nav', { 'aria-label': 'Sections' }, links),
    element('main', {}, element('h2', { class: 'hidden' }, frame.heading), form, status, paper, content),
  );
  drawCharts(frame.head);
  buildForm();
  show();
  if (choice.section !== '') goToSection();
  addEventListener('hashchange', () => {
    choice = parseAddress(location.hash, names);
    buildForm();
    show();
    goToSection();
  });
  addEventListener('beforeprint', () => {
    showWhole(document.body, frame.closedOnPaper);
    drawCharts(document.body, PAPER_WIDTH);
  });
  addEventListener('afterprint', () => drawCharts(document.body));
  let width = innerWidth;
  addEventListener('resize', () => {
    if (width === innerWidth) return;
    width = innerWidth;
    drawCharts(document.body);
  });
}

function metricOf<Row>({ metrics, metric }: Frame<Row, string>, choice: Choice): MetricId {
  return metrics.find((id) => id === choice.metric) ?? metric;
}

/** Says on paper, which has no filters, what was chosen. */
function describeChoice<Row>({ filters }: Frame<Row, string>, { choice, metric }: Shown<Row>): string {
  const chosen = Object.entries(filters).flatMap(([name, { label, show = String }]) => {
    const values = choice.filters[name] ?? [];
    return values.length === 0 ? [] : [`${label}: ${values.map((value) => show(value)).join(', ')}.`];
  });
  return [`Metric: ${METRICS[metric].label}.`, ...chosen].join(' ');
}

/** Folds the boxes of a filter until the reader opens them, or has chosen some. */
function foldBoxes(boxes: Element[], chosen: number): Element {
  const folded = disclosure(`${boxes.length} to choose from`, boxes);
  folded.open = chosen > 0;
  return folded;
}

function buildSection(id: string, title: string, inside: Content): Element {
  return element(
    'section',
    { id, 'aria-labelledby': `${id}-title` },
    element('h2', { id: `${id}-title`, tabindex: '-1' }, title),
    inside,
  );
}

/** Opens the parts that are closed on the screen for printing, except those that stay closed on paper. */
function showWhole(content: Element, closedOnPaper = ''): void {
  const closed = [...content.querySelectorAll<HTMLDetailsElement>('details:not([open])')].filter(
    (one) => closedOnPaper === '' || one.closest(closedOnPaper) === null,
  );
  for (const one of closed) one.open = true;
  addEventListener('afterprint', () => closed.forEach((one) => (one.open = false)), { once: true });
}
