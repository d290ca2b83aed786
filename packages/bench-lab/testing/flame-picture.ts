/** A picture of why two versions differ: the differential flame graph of the report, from the code of the project down. */
import { readWhy } from 'bench-analysis/why/store';
import { layOut, type Box } from '../../bench-report/page/flame.ts';
import { buildFlame } from '../../bench-report/src/html/flame.ts';
import { viewWhy } from 'bench-report/why';
import { describeMachine } from 'bench-report/view';
import type { StoredRun } from 'bench-analysis/results/store';
import { escape, toFile, type Picture } from './pictures.ts';

const WIDTH = 760;
const ROW = 20;
const TITLE = 44;
const CAPTION = 56;
/** Deeper calls are left out: a document shows where a difference begins. */
const DEPTH = 9;
/** A letter takes this much, in px. */
const LETTER = 6.6;
/** A box that is narrower has no name, in px. */
const NAMED = 24;

/** Plans the picture of the first comparison that was explained in a run. */
export function toFlame({ folder, host, plan }: StoredRun & { folder: string }): Picture {
  const why = readWhy(folder);
  const [pair] = why === undefined ? [] : viewWhy(why);
  const flame = why && pair && buildFlame(why, pair);
  if (pair === undefined || flame === undefined) throw new Error(`${plan.run} has no profile of both sides`);
  // A graph of CPU shows neither statements nor waits.
  const title = pair.sentences.find((one) => !one.startsWith('Each request')) ?? '';
  const boxes = layOut([flame], 'after').filter(({ depth, share }) => depth < DEPTH && share * WIDTH >= 1);
  const height = TITLE + (1 + Math.max(...boxes.map(({ depth }) => depth))) * ROW + CAPTION;
  const captions = [
    'µs of CPU per request, before → after. A box is as wide as a call with all below it; red: more than before, blue: less.',
    `Run ${plan.run}, ${describeMachine(host)}.`,
  ].map(
    (text, index) =>
      `<text x="2" y="${height - 32 + 17 * index}" font-size="11.5" fill="var(--faint)">${escape(text)}</text>`,
  );
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}" font-family="system-ui, sans-serif" font-size="12" fill="var(--text)"><text x="2" y="24" font-size="15" font-weight="600">${escape(title)}</text>${boxes.map(drawBox).join('')}${captions.join('')}</svg>`;
  return {
    name: `flame-${plan.run}`,
    alt: `Differential flame graph. ${pair.sentences.join(' ')}`,
    width: WIDTH,
    draw: (theme) => toFile(svg, theme),
  };
}

function drawBox({ depth, from, share, change, strength, label }: Box): string {
  const [x, width, y] = [from * WIDTH, share * WIDTH, TITLE + depth * ROW];
  const letters = Math.floor((width - 6) / LETTER);
  const text = label.length <= letters ? label : `${label.slice(0, letters - 1)}…`;
  const colour = change === 'less' ? 'accent' : 'bad';
  const box = `<rect x="${x.toFixed(1)}" y="${y}" width="${Math.max(0, width - 1).toFixed(1)}" height="${ROW - 1}" fill="var(--${colour})" fill-opacity="${(0.1 + 0.55 * strength).toFixed(2)}"/>`;
  return width < NAMED ? box : `${box}<text x="${(x + 3).toFixed(1)}" y="${y + 14}">${escape(text)}</text>`;
}
