/** A picture of why two versions differ: the differential flame graph of the report, from the code of the project down. */
import { readWhy } from 'bench-analysis/why/store';
import { toPageWhy, type Flame } from '../../bench-report/src/html/flame.ts';
import { formatSigned } from 'bench-report/format';
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
/** A difference of this share of the whole has the full colour. */
const FULL_SHARE = 0.05;

/** Plans the picture of the first comparison that was explained in a run. */
export function toFlame({ folder, host, plan }: StoredRun & { folder: string }): Picture {
  const why = readWhy(folder);
  const [pair] = why === undefined ? [] : toPageWhy(why).pairs;
  if (pair?.flame === undefined) throw new Error(`${plan.run} has no profile of both sides`);
  const { flame, sentences } = pair;
  const [title = ''] = sentences;
  const depth = Math.min(DEPTH, depthOf(flame));
  const height = TITLE + depth * ROW + CAPTION;
  const captions = [
    'µs of CPU per request. A box is as wide as a call with all below it; red: more than before, blue: less.',
    `Run ${plan.run}, ${describeMachine(host)}.`,
  ].map(
    (text, index) =>
      `<text x="2" y="${height - 32 + 17 * index}" font-size="11.5" fill="var(--faint)">${escape(text)}</text>`,
  );
  const boxes = drawBoxes(flame, { x: 0, width: WIDTH, depth: 0, whole: flame }).join('');
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}" font-family="system-ui, sans-serif" font-size="12" fill="var(--text)"><text x="2" y="24" font-size="15" font-weight="600">${escape(title)}</text>${boxes}${captions.join('')}</svg>`;
  return {
    name: `flame-${plan.run}`,
    alt: `Differential flame graph. ${sentences.join(' ')}`,
    width: WIDTH,
    draw: (theme) => toFile(svg, theme),
  };
}

function depthOf({ calls }: Flame): number {
  return 1 + Math.max(0, ...calls.map(depthOf));
}

function drawBoxes(
  flame: Flame,
  { x, width, depth, whole }: { x: number; width: number; depth: number; whole: Flame },
): string[] {
  const difference = flame.after - flame.before;
  const strength = Math.min(1, Math.abs(difference) / (FULL_SHARE * Math.max(whole.before, whole.after)));
  const y = TITLE + depth * ROW;
  const name = `${flame.name} ${formatSigned(difference)}`;
  const letters = Math.floor((width - 6) / LETTER);
  const text = name.length <= letters ? name : `${name.slice(0, letters - 1)}…`;
  const box = `<rect x="${x.toFixed(1)}" y="${y}" width="${Math.max(0, width - 1).toFixed(1)}" height="${ROW - 1}" fill="var(--${difference < 0 ? 'accent' : 'bad'})" fill-opacity="${(0.1 + 0.55 * strength).toFixed(2)}"/>`;
  const label = width < NAMED ? '' : `<text x="${(x + 3).toFixed(1)}" y="${y + 14}">${escape(text)}</text>`;
  let at = x;
  const inner = flame.calls.flatMap((call) => {
    const part = flame.after === 0 ? 0 : (call.after / flame.after) * width;
    const drawn =
      part < 1 || depth + 1 === DEPTH ? [] : drawBoxes(call, { x: at, width: part, depth: depth + 1, whole });
    at += part;
    return drawn;
  });
  return [box, label, ...inner];
}
