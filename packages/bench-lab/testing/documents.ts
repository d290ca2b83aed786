/** The documents of the repository, and their quotations from published runs. */
import { HOME } from 'bench-machine/home';
import { globSync, readFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { summarisePool } from '../src/analyse/power.ts';
import { type Row, summarise } from 'bench-analysis/summary';
import { ROOT } from 'bench-targets/catalogue/stacks';
import { METRIC_IDS, METRICS, type MetricId } from 'bench-model/metrics';
import { formatWhole } from 'bench-report/format';
import { renderMarkdown } from 'bench-report/markdown';
import { renderPower } from '../src/report/power.ts';
import { toModel } from 'bench-report/model/model';
import { showLimit, showMetric, tellLimits } from 'bench-report/cells';
import { toScalingView } from '../../bench-report/src/scaling.ts';
import { toView } from 'bench-report/view';
import { type Pool, readPool } from '../src/results/pool.ts';
import { listDocuments } from '../../../scripts/checks/documents.ts';
import { drawCommand } from './commands-table.ts';
import { drawTable } from './draw-table.ts';
import { toTerminal } from './terminal-picture.ts';
import { embedPicture, toPicture, type Picture } from './pictures.ts';
import { listTries } from './planted-causes.ts';
import { toPlanted } from './planted-picture.ts';
import { toFlame } from './flame-picture.ts';
import { toRatios } from './ratios-picture.ts';
import { compareOf, drawRepeats, drawVerdicts } from './repeats.ts';
import { readRun, type StoredRun } from 'bench-analysis/results/store';

/** A part of a document between `<!-- kind words -->` and `<!-- end -->`. */
export interface Block {
  kind: string;
  words: string[];
  text: string;
}

/** An indented one is an example. */
const BLOCK = /^<!-- (?<kind>[a-z]+) (?<words>[^\n>]*) -->\n(?<text>.*?)^<!-- end -->/gms;

/** Reads one of the documents. */
export function readDocument(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8');
}

/** Finds the blocks of a document. */
export function findBlocks(document: string): Block[] {
  return [...document.matchAll(BLOCK)].map(({ groups }) => ({
    kind: groups?.['kind'] ?? '',
    words: (groups?.['words'] ?? '').split(' '),
    text: groups?.['text'] ?? '',
  }));
}

/** Returns the document at this path with each of its blocks rendered anew from the published runs. */
export function renderBlocks(document: string, path: string): string {
  return document.replaceAll(BLOCK, (_, kind: string, words: string) => {
    const render = BLOCKS[kind];
    if (render === undefined)
      throw new Error(`unknown block "${kind}": ${Object.keys(BLOCKS).join(', ')} are known`);
    return `<!-- ${kind} ${words} -->\n${render(words.split(' '), path).trimEnd()}\n<!-- end -->`;
  });
}

/** Returns the text of a document without its blocks, code and comments. */
export function proseOf(document: string): string {
  return document
    .replaceAll(BLOCK, '')
    .replaceAll(/^ *```.*?^ *```$/gms, '')
    .replaceAll(/`[^`\n]+`/g, '')
    .replaceAll(/<!--.*?-->/gs, '');
}

/** Returns the pictures that the documents show. */
export function listPictures(): Picture[] {
  const blocks = listDocuments().flatMap((path) => findBlocks(readDocument(path)));
  return blocks.flatMap(({ kind, words }) => PICTURE_OF[kind]?.(words) ?? []);
}

/** The blocks that show a picture. */
const PICTURE_OF: Record<string, (words: string[]) => Picture> = {
  /** `picture ID cpu at 100`: a metric of all targets as a picture. */
  picture: ([id = '', metric = '', ...rest]) =>
    toPicture(readPublished(id, connectionsOf(rest)), metricOf(metric)),
  /** `terminal ID NAME`: a service of `packages/bench-lab/examples` from `init` to the verdict, as a picture of a terminal. */
  terminal: ([id = '', name = '']) => toTerminal(name, linesOf(id, name, IN_TERMINAL)),
  /** `planted ID ID`: what the comparisons of pools of `bench-http power` found together, as a picture. */
  planted: (ids) => toPlanted(new Map(ids.map((id) => [id, readPublishedPool(id)]))),
  /** `flame ID`: where the first difference that `--why` explained in a run is spent, as a picture. */
  flame: ([id = '']) => toFlame(readRun(folderOf(id))),
  /** `ratios ID ID`: the comparisons by CPU per request in a run and its repeats, as a picture. */
  ratios: (ids) => toRatios(ids.map((id) => readPublished(id))),
};

/** The figures that a document says it took from a run: those in bold. */
export function listFigures(document: string): string[] {
  const bold = [...proseOf(document).matchAll(/\*\*(?<text>[^*]+)\*\*/g)];
  return bold.map(({ groups }) => groups?.['text'] ?? '').filter((text) => /\d/.test(text));
}

/** Returns true if a text has this figure, and not only as a part of a longer one. */
export function isQuoted(figure: string, text: string): boolean {
  const parts = text.split(figure);
  return parts.some((before, index) => {
    const after = parts[index + 1];
    return after !== undefined && !/[\d.,]$/.test(before) && !/^[\d.,]*\d/.test(after);
  });
}

/** The content of each kind of block. Words after the run limit it: `at 100` to a number of connections. */
const BLOCKS: Record<string, (words: string[], path: string) => string> = {
  ...Object.fromEntries(
    Object.entries(PICTURE_OF).map(([kind, plan]) => [
      kind,
      (words: string[], path: string) => embedPicture(plan(words), path),
    ]),
  ),

  /** `command NAME`: what a command of `bench-http` does, and its options. */
  command: ([name = '']) => drawCommand(name),

  /** `scaling ID [for TARGET TARGET]`: the table of `--scale`, or these parts of it without notes. */
  scaling: (words) => {
    const [[id = ''], targets] = splitAt(words, 'for');
    const model = toModel(readPublished(id));
    const scaling = toScalingView(model);
    const { beside: _, closing: __, ...view } = toView(model);
    if (scaling === undefined) throw new Error(`${id} was not made with --scale`);
    const isWanted = ({ heading }: { heading: string }): boolean =>
      targets.some((target) => heading.startsWith(`${target},`));
    const groups = targets.length === 0 ? scaling.groups : scaling.groups.filter(isWanted);
    if (groups.length < targets.length) throw new Error(`${id} has not scaled all of ${targets.join(', ')}`);
    const notes = targets.length === 0 ? scaling.notes : [];
    return renderMarkdown({ ...view, ...scaling, groups, notes, setting: [], signs: [] });
  },

  /** `verdicts ID ID`: the verdicts of repeats, side by side. */
  verdicts: (ids, path) =>
    drawVerdicts(ids.map((id) => ({ link: linkFrom(path, id), table: compareOf(readPublished(id)) }))),

  /** `power ID`: as `bench-http power` prints it. */
  power: ([id = '']) => {
    const pool = readPublishedPool(id);
    return fence(renderPower(pool, summarisePool(pool.entries)));
  },

  /** `repeats cpu of ID ID`: the agreement of repeats of one run. */
  repeats: ([metric = '', , ...ids], path) =>
    drawRepeats(
      metricOf(metric),
      ids.map((id) => ({ link: linkFrom(path, id), run: readPublished(id) })),
    ),

  /** `why ID NAME`: the verdicts on a recorded service, and what `--why` said of them first. */
  why: ([id = '', name = '']) => {
    const lines = linesOf(id, name, IN_WHY).map((line) => line.replaceAll(/(?<=\S) {2,}/g, '  '));
    const causes = lines.filter((line) => line.startsWith(' ')).slice(0, MOST_CAUSES);
    return fence([...lines.filter((line) => !line.startsWith(' ')), ...causes].join('\n'));
  },

  /** `job ID NAME`: what a recorded job prints of its budgets. */
  job: ([id = '', name = '']) => fence(linesOf(id, name, IN_JOB).join('\n')),

  /** `causes ID`: how often `--why` was right about planted causes, and what it said first. */
  causes: ([id = '']) =>
    drawTable(['service', 'planted', 'right', 'first sentence'], listTries(folderOf(id))),

  /** `examples ID`: how each recorded service was started, and the verdicts on its second commit. */
  examples: ([id = '']) =>
    drawServices(id, ['service', 'started by', 'verdict on the second commit'], (name) => {
      const started = linesOf(id, name, /^started /).map((line) => line.split(/ {2,}|, which/)[1] ?? '');
      const verdicts = linesOf(id, name, IN_EXAMPLE).flatMap(
        (line) => /(?:slower|faster|same|undecided): .*?\)/.exec(line) ?? [],
      );
      return [started.map((command) => `\`${command}\``).join('<br>'), verdicts.join('<br>')];
    }),

  /** `told ID`: the last verdict on each recorded service, and the line or the finding that Bench named. */
  told: ([id = '']) =>
    drawServices(id, ['service', 'verdict', 'cause or finding'], (name) => {
      const lines = linesOf(id, name, /./);
      const verdicts = lines.flatMap((line) => / × .+?((?:\w+): .+?[;)])/.exec(line)?.[1] ?? []);
      const [told] = lines.flatMap((line) => TOLD.exec(line)?.slice(1).find(Boolean) ?? []);
      return [verdicts.at(-1)?.replace(/;$/, '') ?? '', told ?? ''];
    }),

  /** `rows goodput cpu of ID ID [at 100] [for TARGET TARGET]`: chosen columns and rows of runs in one table. */
  rows: (words, path) => {
    const [metrics, rest] = splitAt(words, 'of');
    const [before, targets] = splitAt(rest, 'for');
    const [ids, at] = splitAt(before, 'at');
    const runs = ids.map((id) =>
      readPublished(id, at.length === 0 ? undefined : connectionsOf(['at', ...at])),
    );
    return drawRows(metrics.map(metricOf), runs, { targets, path });
  },
};

/** The lines of a recording that a reader needs: the commands, the start, the requests and the verdicts. */
const IN_EXAMPLE = /^(?:\$ |started |asked |exit code |[\d,]+ +\S+\[.+ × )/;

/** The verdicts of a recording, and the packages that `--why` names first. */
const IN_WHY = /^(?:[\d,]+ +.+ × | {2}(?:No function|[\d.]+ of [\d.]+ µs are in))/;
const MOST_CAUSES = 2;

/** The lines of a recorded job that its reviewer needs. */
const IN_JOB = /^(?:\$ |budget |(?!error|warning).+ at most |Bench: |Which )/;

/** The line or the package that `--why` named first, or else what was found. */
const TOLD = /^ {2}(\S+:\d+ .+\(\): .+|\S+ \S+ of .+ in .+)\.$|Found: .+? at [\d,]+: (.+?)(?:;|\. )/;

/** The lines of a recording that a picture of it shows. */
const IN_TERMINAL =
  /^(?:\$ |started |asked |wrote |target +against |\S+\[.+(?: × |more CPU)| {2}[Rr]atios of| {2}\S+:\d+ .+\.$| {2}(?:Each request|The code of))/;

/** Draws a row for each recorded service of a run: its name, and these cells. */
function drawServices(id: string, head: string[], cellsOf: (name: string) => string[]): string {
  const files = globSync('*.txt', { cwd: folderOf(id) }).toSorted();
  const names = files.map((file) => basename(file, '.txt'));
  return drawTable(
    head,
    names.map((name) => [name, ...cellsOf(name)]),
  );
}

/** Returns the lines of a recorded service that match a pattern. */
function linesOf(id: string, name: string, shown: RegExp): string[] {
  const lines = readFileSync(join(folderOf(id), `${name}.txt`), 'utf8')
    .trimEnd()
    .split('\n');
  return lines.filter((line) => shown.test(line));
}

function folderOf(id: string): string {
  return join(HOME.results, 'published', id);
}

function readPublishedPool(id: string): Pool {
  const pool = readPool(folderOf(id));
  if (pool === undefined) throw new Error(`no pool ${id}`);
  return pool;
}

/** The address of a published run, from a document. */
function linkFrom(path: string, id: string): string {
  return relative(dirname(path), `results/published/${id}`);
}

/** Several documents quote the same runs. */
const published = new Map<string, StoredRun>();

/** Reads a published run, or its trials at some numbers of connections. */
function readPublished(id: string, connections?: number[]): StoredRun {
  const run = published.get(id) ?? readRun(folderOf(id));
  published.set(id, run);
  if (run.plan.quick) throw new Error(`${id} is a first impression: it is not for publishing`);
  return connections === undefined
    ? run
    : { ...run, trials: run.trials.filter((trial) => connections.includes(trial.connections)) };
}

function connectionsOf([at, list]: string[]): number[] | undefined {
  return at === 'at' ? list?.split(',').map(Number) : undefined;
}

function metricOf(word: string): MetricId {
  const metric = METRIC_IDS.find((id) => id === word);
  if (metric === undefined) throw new Error(`unknown metric "${word}"`);
  return metric;
}

function fence(text: string): string {
  return `\`\`\`\n${text.trimEnd()}\n\`\`\``;
}

/** The column with the rounds that count. */
const ROUNDS = 'valid rounds';
/** The columns of words; those of figures are aligned right. */
const WORDS = new Set(['run', 'workload', 'engine', 'target', 'class', ROUNDS, 'limit']);
/** Columns that a table leaves out if they say the same in each row. */
const SETTINGS = new Set(['run', 'workload', 'engine', 'workers', 'class', 'connections', ROUNDS, 'limit']);

/** Draws one row for each target and number of connections, with a link to its run if there are several. */
function drawRows(
  metrics: MetricId[],
  runs: StoredRun[],
  { targets, path }: { targets: readonly string[]; path: string },
): string {
  const rows = runs.flatMap(({ plan, trials }) =>
    summarise(trials)
      .filter(({ target }) => targets.length === 0 || targets.includes(target))
      .map((row) => ({
        run: `[${plan.run}](${linkFrom(path, plan.run)})`,
        workload: plan.workload,
        engine: plan.engine,
        workers: String(plan.workers),
        target: `\`${row.target}\``,
        class: row.class,
        connections: formatWhole(row.connections),
        ...Object.fromEntries(metrics.map((id) => [METRICS[id].label, showMetric(id, row)])),
        [ROUNDS]: countRounds(row, metrics),
        ...(tellLimits([row]) && { limit: showLimit(row) }),
      })),
  );
  const columns = Object.keys(rows[0] ?? {}) as (keyof (typeof rows)[number])[];
  const usual = { ...rows[0], [ROUNDS]: 'all' };
  const head = columns.filter((name) => !SETTINGS.has(name) || rows.some((row) => row[name] !== usual[name]));
  const cells = rows.map((row) => head.map((name) => row[name]));
  return drawTable(head, cells, WORDS);
}

/** `all`, or `2–3 of 3`: the rounds of a row in which its figures of these metrics are valid, or lower bounds. */
function countRounds({ figures, rounds }: Row, metrics: readonly MetricId[]): string {
  const counts = metrics
    .map((id) => figures[id])
    .map((one) => (one && (one.valid || one.atLeast) ? one.rounds : 0));
  const [least, most] = [Math.min(...counts), Math.max(...counts)];
  return least === rounds ? 'all' : `${least === most ? least : `${least}–${most}`} of ${rounds}`;
}

/** Returns the words before one, and those after it. */
function splitAt(words: readonly string[], word: string): [string[], string[]] {
  const index = words.indexOf(word);
  return index === -1 ? [[...words], []] : [words.slice(0, index), words.slice(index + 1)];
}
