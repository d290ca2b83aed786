/** The answer of a run: a sentence, and a picture of it at one number of connections. */
import { METRICS } from 'bench-model/metrics';
import { formatShare, nameCell } from '../src/format.ts';
import { showMetric } from '../src/cells.ts';
import type { Page } from '../src/html/data.ts';
import { drawCharts, picture } from './chart.ts';
import { toForest } from './comparisons.ts';
import { element } from './elements.ts';
import { drawForest } from './forest.ts';
import { drawRanks, RANKS_KEY } from './ranking.ts';
import { byPlace, nameRung, sortRows } from './section.ts';

/** More rows do not fit the first screen: the sections below show all. */
const MOST_ROWS = 14;

/** A picture, and the switch that selects it. */
interface Shot {
  label: string;
  /** What it shows. */
  key: string;
  picture: () => HTMLElement;
}

/** Shows the outcome in a sentence, with the picture that shows it and a switch for others. */
export function showAnswer(page: Page): HTMLElement {
  const shots = page.isCompared ? compare(page) : rank(page);
  const [first] = shots;
  const sentence = element('p', { class: 'outcome' }, page.outcome);
  if (first === undefined) return sentence;
  const key = element('p', { class: 'key' });
  const place = element('div');
  const show = (shot: Shot): void => {
    key.textContent = shot.key;
    place.replaceChildren(shot.picture());
    drawCharts(place);
  };
  show(first);
  return element('div', { class: 'answer' }, sentence, buildSwitch(shots, show), place, key);
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
