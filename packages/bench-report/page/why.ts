/** Where the difference of a comparison is spent: sentences, a table, and a differential flame graph. */
import { sum } from 'bench-statistics/numbers';
import type { PageWhy } from '../src/html/data.ts';
import type { Flame } from '../src/html/flame.ts';
import { formatCost, formatSigned } from '../src/format.ts';
import { element, list, tablesOfWords } from './elements.ts';
import { layOut, type Box, type Width } from './flame.ts';
import type { Section } from './section.ts';

const SVG = 'http://www.w3.org/2000/svg';
const ROW = 18;
export const why: Section = {
  id: 'why',
  title: 'Where the difference is spent',
  build: ({ page }) => {
    if (page.why === undefined) return undefined;
    const { pairs, missing } = page.why;
    return [
      missing.map((line) => element('p', {}, line)),
      pairs.map((pair) => [
        element('h3', {}, pair.heading),
        list(pair.sentences),
        [pair.table, pair.use].map(tablesOfWords),
        list([...pair.table.notes, ...pair.use.notes], 'key'),
        pair.flame && showFlame(pair.flame, pair),
      ]),
    ];
  },
};

/** Makes the flame graph. Arrows move, Enter zooms, Escape returns to the whole. */
function showFlame(whole: Flame, { baseline, candidate }: PageWhy): HTMLElement {
  const label = 'Flame graph: callers above what they call';
  const graph = element('div', { class: 'flame', role: 'tree', 'aria-label': label });
  const told = element('p', { class: 'told', role: 'status' }, ' ');
  const found = element('span', { role: 'status' });
  const search = element('input', {
    type: 'search',
    placeholder: 'Search',
    'aria-label': 'Search functions and files',
  });
  const width = element(
    'select',
    { 'aria-label': 'Widths' },
    element('option', { value: 'after' }, `widths: ${candidate}`),
    element('option', { value: 'before' }, `widths: ${baseline}`),
  );
  let zoomed: Flame[] = [whole];
  let drawn = new Map<Box, SVGElement>();

  const mark = (): void => {
    const sought = search.value.toLowerCase();
    const outermost = new Set<Box>();
    for (const [box, made] of drawn) {
      const { name, file } = box.flame;
      const isMatch = sought !== '' && `${name} ${file}`.toLowerCase().includes(sought);
      made.classList.toggle('match', isMatch);
      if (isMatch && !callersOf(box).some((caller) => outermost.has(caller))) outermost.add(box);
    }
    const all = [...outermost].map(({ flame }) => flame);
    const [before, after] = [sum(all.map((one) => one.before)), sum(all.map((one) => one.after))];
    found.textContent = sought === '' ? '' : ` ${all.length} found: ${describe({ before, after })}`;
  };

  const draw = (): void => {
    const boxes = layOut(zoomed, width.value as Width);
    drawn = new Map(boxes.map((box) => [box, drawBox(box)]));
    const svg = document.createElementNS(SVG, 'svg');
    for (const [box, made] of drawn) {
      const { flame } = box;
      const tell = (): void => void (told.textContent = `${flame.name} ${flame.file}: ${describe(flame)}`);
      made.addEventListener('click', () => zoom(box));
      made.addEventListener('focus', tell);
      made.addEventListener('mouseenter', tell);
      made.addEventListener('keydown', (event) => press(event, box));
      svg.append(made);
    }
    const rows = 1 + Math.max(...boxes.map(({ depth }) => depth));
    set(svg, { height: String(ROW * rows), width: '100%' });
    svg.firstElementChild?.setAttribute('tabindex', '0');
    graph.replaceChildren(svg);
    mark();
  };

  const focus = (box: Box | undefined): void => {
    const made = box && drawn.get(box);
    if (made === undefined) return;
    for (const other of drawn.values()) other.setAttribute('tabindex', '-1');
    made.setAttribute('tabindex', '0');
    made.focus();
  };

  const zoom = (box: Box): void => {
    zoomed = [...callersOf(box).toReversed(), box].map(({ flame }) => flame);
    draw();
    focus([...drawn.keys()].find(({ flame }) => flame === box.flame));
  };

  const press = (event: KeyboardEvent, box: Box): void => {
    const boxes = [...drawn.keys()];
    const row = boxes.filter(({ depth }) => depth === box.depth);
    const calls = boxes.filter(({ parent }) => parent === box);
    const moves: Record<string, () => void> = {
      ArrowUp: () => focus(box.parent),
      ArrowDown: () => focus(calls.toSorted((a, b) => b.share - a.share)[0]),
      ArrowLeft: () => focus(row[row.indexOf(box) - 1]),
      ArrowRight: () => focus(row[row.indexOf(box) + 1]),
      Enter: () => zoom(box),
      Escape: () => zoom(boxes[0] as Box),
    };
    const move = moves[event.key];
    if (move === undefined) return;
    event.preventDefault();
    move();
  };

  search.addEventListener('input', mark);
  width.addEventListener('change', () => draw());
  draw();
  return element(
    'figure',
    {},
    element('figcaption', {}, label),
    element(
      'p',
      { class: 'key' },
      'A box is as wide as the CPU per request of a function with all that it calls, and names it in µs before → after. Orange: more than before; blue: less. Arrow keys move, Enter zooms in, Escape zooms out.',
    ),
    element('p', {}, search, width, found),
    graph,
    told,
  );
}

/** Returns the boxes of all callers of a function, the nearest first. */
function callersOf({ parent }: Box): Box[] {
  return parent === undefined ? [] : [parent, ...callersOf(parent)];
}

/** Draws one function. An SVG inside an SVG cuts the text at its edge, at any width of the page. */
function drawBox({ flame, depth, from, share, change, strength, label }: Box): SVGElement {
  const box = document.createElementNS(SVG, 'svg');
  set(box, {
    x: `${100 * from}%`,
    y: String(ROW * depth),
    width: `${100 * share}%`,
    height: String(ROW - 1),
    class: change,
    role: 'treeitem',
    'aria-level': String(depth + 1),
    'aria-label': `${flame.name}, ${describe(flame)}`,
    tabindex: '-1',
  });
  const rect = document.createElementNS(SVG, 'rect');
  set(rect, { width: '100%', height: '100%', style: `--strength: ${Math.round(10 + 60 * strength)}%` });
  const text = document.createElementNS(SVG, 'text');
  set(text, { x: '3', y: '13' });
  text.textContent = label;
  box.append(rect, text);
  return box;
}

function set(made: Element, attributes: Record<string, string>): void {
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
}

/** `12.0 → 34.0 µs, +22.0`. */
function describe({ before, after }: Pick<Flame, 'before' | 'after'>): string {
  return `${formatCost(before)} → ${formatCost(after)} µs, ${formatSigned(after - before)}`;
}
