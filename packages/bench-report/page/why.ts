/** Where the difference of a comparison is spent: sentences, a table, and a differential flame graph. */
import type { Flame, PageWhy } from '../src/html/flame.ts';
import { formatCost, formatSigned } from '../src/format.ts';
import { element, table } from './elements.ts';
import type { Section } from './section.ts';

const SVG = 'http://www.w3.org/2000/svg';
const ROW = 18;
/** A difference of this share of the whole has the full colour. */
const FULL_SHARE = 0.05;

/** The side that gives the widths. */
type Width = 'after' | 'before';

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
        element(
          'ul',
          {},
          pair.sentences.map((sentence) => element('li', {}, sentence)),
        ),
        pair.tables.map(showTable),
        element(
          'ul',
          { class: 'key' },
          pair.notes.map((note) => element('li', {}, note)),
        ),
        pair.flame && showFlame(pair.flame, pair),
      ]),
    ];
  },
};

function showTable({ title, columns, words, rows }: PageWhy['tables'][number]): HTMLElement {
  return table(
    title,
    columns.map((head, index) => ({
      head,
      cell: (row: string[]) => row[index],
      isText: words.includes(head),
    })),
    rows,
  );
}

/** A function in the graph, and where it is drawn. */
interface Drawn {
  flame: Flame;
  parent: Drawn | undefined;
  depth: number;
  box: SVGElement;
}

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
  let drawn: Drawn[] = [];

  const mark = (): void => {
    const sought = search.value.toLowerCase();
    const matches = ({ flame: { name, file } }: Drawn): boolean =>
      sought !== '' && `${name} ${file}`.toLowerCase().includes(sought);
    const outermost = new Set<Drawn>();
    for (const one of drawn) {
      one.box.classList.toggle('match', matches(one));
      if (!matches(one)) continue;
      let above = one.parent;
      while (above !== undefined && !outermost.has(above)) above = above.parent;
      if (above === undefined) outermost.add(one);
    }
    const all = [...outermost].map(({ flame }) => flame);
    const [before, after] = [all.map((one) => one.before), all.map((one) => one.after)].map((costs) =>
      costs.reduce((sum, cost) => sum + cost, 0),
    ) as [number, number];
    found.textContent = sought === '' ? '' : ` ${all.length} found: ${describe({ before, after })}`;
  };

  const draw = (): void => {
    const by = width.value as Width;
    drawn = [];
    const svg = document.createElementNS(SVG, 'svg');
    const place = (flame: Flame, parent: Drawn | undefined, from: number, share: number): void => {
      const depth = (parent?.depth ?? -1) + 1;
      const one: Drawn = { flame, parent, depth, box: drawBox(flame, { depth, from, share, whole }) };
      one.box.addEventListener('click', () => zoom(one));
      const tell = (): void => void (told.textContent = `${flame.name} ${flame.file}: ${describe(flame)}`);
      one.box.addEventListener('focus', tell);
      one.box.addEventListener('mouseenter', tell);
      one.box.addEventListener('keydown', (event) => press(event, one));
      drawn.push(one);
      svg.append(one.box);
      const next = zoomed[depth + 1];
      if (next !== undefined) {
        place(next, one, 0, 1);
        return;
      }
      let at = from;
      for (const call of flame.calls) {
        const part = flame[by] === 0 ? 0 : (call[by] / flame[by]) * share;
        if (part > 0) place(call, one, at, part);
        at += part;
      }
    };
    place(whole, undefined, 0, 1);
    svg.setAttribute('height', String(ROW * (1 + Math.max(...drawn.map(({ depth }) => depth)))));
    svg.setAttribute('width', '100%');
    drawn[0]?.box.setAttribute('tabindex', '0');
    graph.replaceChildren(svg);
    mark();
  };

  const focus = (one: Drawn | undefined): void => {
    if (one === undefined) return;
    for (const { box } of drawn) box.setAttribute('tabindex', '-1');
    one.box.setAttribute('tabindex', '0');
    one.box.focus();
  };

  const zoom = (one: Drawn): void => {
    zoomed = [];
    for (let at: Drawn | undefined = one; at !== undefined; at = at.parent) zoomed.unshift(at.flame);
    draw();
    focus(drawn.find(({ flame }) => flame === one.flame));
  };

  const press = (event: KeyboardEvent, one: Drawn): void => {
    const row = drawn.filter(({ depth }) => depth === one.depth);
    const moves: Record<string, () => void> = {
      ArrowUp: () => focus(one.parent),
      ArrowDown: () =>
        focus(
          widest(
            drawn.filter(({ parent }) => parent === one),
            width.value as Width,
          ),
        ),
      ArrowLeft: () => focus(row[row.indexOf(one) - 1]),
      ArrowRight: () => focus(row[row.indexOf(one) + 1]),
      Enter: () => zoom(one),
      Escape: () => zoom(drawn[0] as Drawn),
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
      'A box is as wide as the CPU per request of a function with all that it calls. + and orange: more than before; − and blue: less. Arrow keys move, Enter zooms in, Escape zooms out.',
    ),
    element('p', {}, search, width, found),
    graph,
    told,
  );
}

function widest(all: readonly Drawn[], by: Width): Drawn | undefined {
  return all.toSorted((a, b) => b.flame[by] - a.flame[by])[0];
}

/** Draws one function. An SVG inside an SVG cuts the text at its edge, at any width of the page. */
function drawBox(
  flame: Flame,
  { depth, from, share, whole }: { depth: number; from: number; share: number; whole: Flame },
): SVGElement {
  const box = document.createElementNS(SVG, 'svg');
  const difference = flame.after - flame.before;
  const strength = Math.min(1, Math.abs(difference) / (FULL_SHARE * Math.max(whole.before, whole.after)));
  set(box, {
    x: `${100 * from}%`,
    y: String(ROW * depth),
    width: `${100 * share}%`,
    height: String(ROW - 1),
    class: difference < 0 ? 'less' : 'more',
    role: 'treeitem',
    'aria-level': String(depth + 1),
    'aria-label': `${flame.name}, ${describe(flame)}`,
    tabindex: '-1',
  });
  const rect = document.createElementNS(SVG, 'rect');
  set(rect, { width: '100%', height: '100%', style: `--strength: ${Math.round(10 + 60 * strength)}%` });
  const text = document.createElementNS(SVG, 'text');
  set(text, { x: '3', y: '13' });
  text.textContent = `${flame.name} ${formatSigned(difference)}`;
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
