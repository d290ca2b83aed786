/** The answer of a run: its verdict or a sentence, and a picture of it at one number of connections. */
import { METRICS } from 'bench-model/metrics';
import { formatShare, nameCell } from '../src/format.ts';
import { showMetric } from '../src/cells.ts';
import type { Page } from '../src/html/data.ts';
import type { PageVerdict } from '../src/html/verdict.ts';
import { tellRounds } from './axes.ts';
import { drawCharts, picture } from './chart.ts';
import { toForest } from './comparisons.ts';
import { element } from './elements.ts';
import { drawForest } from './forest.ts';
import { copyPicture } from './picture.ts';
import { drawRanks, RANKS_KEY } from './ranking.ts';
import { byPlace, nameRung, sortRows } from './section.ts';

/** More rows do not fit the first screen: the sections below show all. */
const MOST_ROWS = 14;
/** The characters of a heading that fits two lines. */
const LONG = 110;

/** A picture, and the switch that selects it. */
interface Shot {
  label: string;
  /** What it shows. */
  key: string;
  /** The rounds that count in it. */
  rounds: string;
  picture: () => HTMLElement;
}

/** Shows the outcome as the heading of the page, with the picture that shows it and a switch for others. */
export function showAnswer(page: Page): Element[] {
  const { verdict, outcome } = page;
  const isLong = verdict === undefined && outcome.length > LONG;
  const looks = isLong ? 'long' : verdict?.verdict;
  const heading = element('h1', { class: looks }, verdict?.heading ?? outcome);
  const shots = page.isCompared ? compare(page) : rank(page);
  const [first] = shots;
  if (first === undefined) return [heading];
  const key = element('p', { class: 'key' });
  const place = element('div');
  const footer = element('p', { class: 'key' });
  const show = (shot: Shot): void => {
    key.textContent = shot.key;
    footer.textContent = `${shot.rounds}, ${page.machine}`;
    place.replaceChildren(shot.picture());
    drawCharts(place);
  };
  show(first);
  const parts = verdict === undefined ? [] : [showSides(verdict), showTiles(verdict)];
  return [
    heading,
    element(
      'div',
      { class: 'answer' },
      parts,
      buildSwitch(shots, show),
      place,
      key,
      footer,
      buildCopies(page.repeat, async () => {
        const drawn = place.querySelector('svg');
        if (drawn !== null) await copyPicture(drawn, heading.textContent, footer.textContent);
      }),
    ),
  ];
}

/** What is compared: before → after, with the subjects of the commits. */
function showSides({ sides }: PageVerdict): Element {
  return element(
    'p',
    { class: 'sides' },
    sides.flatMap(({ name, subject }, index) => [
      index === 0 ? undefined : ' → ',
      element('strong', {}, name),
      subject === undefined ? undefined : ` ${subject}`,
    ]),
  );
}

function showTiles({ tiles }: PageVerdict): Element {
  return element(
    'dl',
    { class: 'tiles' },
    tiles.map(({ label, before, after, change, verdict }) =>
      element(
        'div',
        { class: verdict },
        element('dt', {}, label),
        element('dd', {}, before, ' → ', element('strong', {}, after)),
        change === undefined ? undefined : element('dd', { class: 'change' }, change),
      ),
    ),
  );
}

function buildCopy(label: string, copy: () => Promise<void>): Element {
  const made = element('button', { type: 'button' }, label);
  made.addEventListener('click', () => {
    void copy().then(
      () => (made.textContent = 'Copied'),
      () => (made.textContent = 'This browser does not allow it'),
    );
  });
  return made;
}

/** Buttons that copy the picture, and the command that measures the same again. */
function buildCopies(repeat: Page['repeat'], copy: () => Promise<void>): Element {
  return element(
    'p',
    { class: 'copies' },
    buildCopy('Copy the picture', copy),
    repeat === undefined
      ? undefined
      : buildCopy('Copy the command', () => navigator.clipboard.writeText(repeat)),
  );
}

function buildSwitch(shots: readonly Shot[], show: (shot: Shot) => void): Element | undefined {
  if (shots.length < 2) return undefined;
  return element(
    'fieldset',
    {},
    element('legend', {}, 'Show'),
    shots.map((shot, index) => {
      const box = element('input', { type: 'radio', name: 'answer' });
      box.checked = index === 0;
      box.addEventListener('change', () => show(shot));
      return element('label', { class: 'chip' }, box, shot.label);
    }),
  );
}

/** The verdicts by the metric that decides, at each number of connections. */
function compare({ comparisons, metric }: Page): Shot[] {
  const found = comparisons.find(({ by }) => by === metric);
  if (found === undefined) return [];
  const { label, better } = METRICS[metric];
  const { threshold, against, rows } = found;
  const known = rows.filter(({ comparison }) => comparison.ratio !== undefined);
  return [...Map.groupBy(known, ({ connections }) => connections)].map(([connections, own]) => {
    const shown = toForest(own.slice(0, MOST_ROWS));
    return {
      label: nameRung(connections),
      key: `${label} ${against}, at ${nameRung(connections)}, with its 95 % interval. Grey: a difference below ${formatShare(threshold)} does not matter.${countRest(own.length)}`,
      rounds: tellRounds(shown.map(({ comparison }) => comparison.rounds)),
      picture: () =>
        picture({
          title: `The verdicts at ${nameRung(connections)}`,
          description: shown.map(({ name, words }) => `${name}: ${words}`).join('. '),
          draw: (width) => drawForest(shown, { threshold, better }, width),
        }),
    };
  });
}

/** The targets by the metric that decides, at each number of connections. */
function rank({ rows, metric }: Page): Shot[] {
  const { label, better } = METRICS[metric];
  return byPlace(rows).flatMap(([place, all]) => {
    const measured = sortRows(all, metric).filter(({ figures }) => figures[metric] !== undefined);
    const shown = measured.slice(0, MOST_ROWS);
    if (shown.length === 0) return [];
    return [
      {
        label: place,
        key: `${label} at ${place}: ${better} is better. ${RANKS_KEY}${countRest(measured.length)}`,
        rounds: tellRounds(shown.flatMap(({ figures }) => figures[metric]?.rounds ?? [])),
        picture: () =>
          picture({
            title: `The targets at ${place}`,
            description: shown.map((row) => `${nameCell(row)}: ${showMetric(metric, row)}`).join('. '),
            draw: (width) => drawRanks(shown, metric, width),
          }),
      },
    ];
  });
}

function countRest(all: number): string {
  return all > MOST_ROWS ? ` ${all - MOST_ROWS} more are below.` : '';
}
