/** The tries of `examples/tries.ts`: how often `--why` named a planted cause first, and nothing where none was planted. */
import { globSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isWithin } from 'bench-analysis/why/places';
import { readWhy } from 'bench-analysis/why/store';
import type { ComparedPair, WhyFile } from 'bench-model/why';
import { viewWhy } from 'bench-report/why';

/** What the commits of a service plant, in their order; nothing in a twin. */
const KINDS = ['line', 'library', 'statements', 'wait', 'twin'];
/** The text of statements and lines, and what they call; and sentences that name no cause. */
const DETAIL = /: \d+ × .+| \(`.+\)|, (?:of which|among them) .+| instead of none/g;
const NAMES_NOTHING = /^(?:No line and no package|The code of the two sides|Nothing else)/;

/** Returns the cells of a row for each service and kind: how many of its tries were right, and what the first one said. */
export function listTries(folder: string): string[][] {
  const tries = globSync('*/why.json', { cwd: folder }).toSorted();
  const services = Map.groupBy(tries, (file) => /causes-(\w+)-\d+/.exec(file)?.[1] ?? '');
  return [...services].flatMap(([service, files]) => {
    const all = files.flatMap((file) => readWhy(join(folder, dirname(file))) ?? []);
    return KINDS.map((kind, index) => {
      const told = all.map((why) => listCauses(why, index));
      const right = told.filter(({ pair, causes: [first] }) =>
        kind === 'twin' ? first === undefined : isPlanted(first, pair, kind),
      );
      const first = right[0]?.causes[0]?.replaceAll(DETAIL, '').replace(/\.?$/, '.') ?? '';
      return [service, kind, `${right.length} of ${told.length}`, first];
    });
  });
}

/** Returns what the explanation of one of the pairs names, the most important first. */
function listCauses(why: WhyFile, index: number): { pair: ComparedPair; causes: string[] } {
  const pair = why.pairs[index] as ComparedPair;
  const view = viewWhy(why).find(({ candidate }) => candidate === pair.candidate);
  if (view === undefined) throw new Error(`${pair.candidate} has no profiles`);
  return { pair, causes: view.sentences.filter((one) => !NAMES_NOTHING.test(one)) };
}

/** Returns true for a sentence about the statements of a commit, or about waits or more CPU at a line that it wrote. */
function isPlanted(sentence = '', { hunks = [] }: ComparedPair, kind: string): boolean {
  if (kind === 'statements') return sentence.startsWith('Each request sends');
  if (!/^Each request waits|(?:^|: )\+/.test(sentence)) return false;
  const [, file, line] = /(?:^|at )(\S+):(\d+)/.exec(sentence) ?? [];
  return hunks.some((one) => one.file === file && isWithin(Number(line), one.after, one.added));
}
