import { existsSync, globSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { ENGINE_NAMES } from 'bench-model/engines';
import { ROOT } from 'bench-targets/catalogue/stacks';
import { WORKLOAD_NAMES } from 'bench-targets/catalogue/workloads/index';
import { METRIC_IDS, METRICS } from 'bench-model/metrics';
import { REASON_CODES } from 'bench-model/reasons';
import {
  findBlocks,
  isQuoted,
  listFigures,
  listPictures,
  proseOf,
  readDocument,
  renderBlocks,
} from '../../bench-lab/testing/documents.ts';
import { listAnswers, listDocuments, listTooLong } from '../../../scripts/checks/documents.ts';
import { USER_COMMANDS } from '../../bench-lab/testing/commands-table.ts';
import { fileOf, PICTURES, THEMES } from '../../bench-lab/testing/pictures.ts';
import { readFixture } from '../../bench-lab/testing/samples.ts';

const DOCUMENTS = listDocuments();
const PICTURED = / src(?:set)?="(?<to>[^"]+)"/g;

const OPTIONS: readonly string[] = readFixture('golden/help.txt').match(/--[a-z][a-z-]*/g) ?? [];

/** Returns true if a link in the document at this path leads to a file and, after a `#`, to one of its headings. */
function leadsSomewhere(path: string, link: string): boolean {
  const [file = '', heading] = link.split('#');
  const target = file === '' ? path : join(dirname(path), file);
  if (!existsSync(join(ROOT, target))) return false;
  return heading === undefined || listHeadings(readDocument(target)).includes(heading);
}

/** Returns the anchors that GitHub gives to the headings of a document. */
function listHeadings(document: string): string[] {
  const headings = [...document.replaceAll(/^```.*?^```/gms, '').matchAll(/^#+ (?<text>.+)$/gm)];
  return headings.map(({ groups }) =>
    (groups?.['text'] ?? '')
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

describe.each(DOCUMENTS)('%s', (path) => {
  const document = readDocument(path);
  let rendered = '';
  beforeAll(() => {
    rendered = renderBlocks(document, path);
  });

  it('quotes the published runs unchanged', async () => {
    await expect(rendered).toMatchFileSnapshot(join(ROOT, path));
  });

  it('closes each block', () => {
    const opened = document.match(/^<!-- (?!end )/gm) ?? [];
    expect(findBlocks(document)).toHaveLength(opened.length);
  });

  it('uses bold only for figures that occur in one of its blocks', () => {
    const quoted = findBlocks(rendered)
      .map(({ text }) => text)
      .join('\n');
    const unknown = listFigures(document).filter((figure) => !isQuoted(figure, quoted));
    expect(unknown).toEqual([]);
  });

  it('links to files and headings that exist', () => {
    const links = [...proseOf(document).matchAll(/\]\((?<to>[^)\s]+)\)/g), ...document.matchAll(PICTURED)];
    const missing = links
      .map(({ groups }) => groups?.['to'] ?? '')
      .filter((to) => !to.startsWith('http') && !leadsSomewhere(path, to));
    expect(missing).toEqual([]);
  });

  it('names files of the packages that exist', () => {
    const named = [...document.matchAll(/`(?<file>(?:packages|python|scripts)\/[\w./-]+)`/g)];
    const missing = named
      .map(({ groups }) => groups?.['file'] ?? '')
      .filter((file) => !existsSync(join(ROOT, file)));
    expect(missing).toEqual([]);
  });
});

/** The documents for users. Those for contributors also name options of other programs. */
const MANUALS = DOCUMENTS.filter(
  (path) => path === 'README.md' || (path.startsWith('docs/') && !path.startsWith('docs/development/')),
);

describe.each(MANUALS)('the prose of %s', (path) => {
  it('names only options that exist', () => {
    const named = [...readDocument(path).matchAll(/`(?<name>--[a-z-]+)[^`\n]*`/g)];
    const names = named.map(({ groups }) => groups?.['name'] ?? '');
    expect(names.filter((name) => !OPTIONS.includes(name))).toEqual([]);
  });
});

describe('the sizes and words of documents', () => {
  it('are checked', () => {
    const sound = {
      'README.md': 'word\n'.repeat(90),
      'docs/findings/one.txt': `<picture>${'word '.repeat(9)}</picture>\n${'word '.repeat(400)}`,
    };
    expect(listTooLong(new Map(Object.entries(sound)))).toEqual([]);
    const long = {
      'README.md': 'word\n'.repeat(91),
      'CHANGELOG.md': 'word\n'.repeat(41),
      'docs/findings/one.txt': 'word '.repeat(401),
      'docs/guides/one.txt': 'word '.repeat(21_100),
    };
    expect(listTooLong(new Map(Object.entries(long)))).toEqual([
      'README.md has 91 lines: at most 90',
      'CHANGELOG.md has 41 lines: at most 40',
      'docs/findings/one.txt has 401 words: a finding has at most 400',
      'the documents have 21633 words: at most 21600',
    ]);
    expect(listAnswers(new Map([['a.md', '`answer`\nan answer\n']]))).toEqual(['a.md:2: say response']);
  });
});

describe('the pictures', () => {
  const drawn = listPictures().flatMap((picture) =>
    THEMES.map((theme) => ({ file: fileOf(picture, theme), svg: picture.draw(theme) })),
  );

  it.each(drawn)('$file shows its run', async ({ file, svg }) => {
    await expect(svg).toMatchFileSnapshot(join(ROOT, PICTURES, file));
  });

  it('are all in use', () => {
    const files = new Set(drawn.map(({ file }) => file));
    expect(readdirSync(join(ROOT, PICTURES)).toSorted()).toEqual([...files].toSorted());
  });

  it.each(drawn)('$file is an image without a page around it', ({ svg }) => {
    expect(svg).toMatch(/^<svg [^>]*xmlns="http:\/\/www\.w3\.org\/2000\/svg"/);
    expect(svg).not.toMatch(/var\(|currentColor|light-dark/);
  });
});

describe('CONTRIBUTING.md', () => {
  it('lists exactly the packages of the harness', () => {
    const named = [...readDocument('CONTRIBUTING.md').matchAll(/^\| \[`(?<name>bench[a-z-]*)`\]/gm)];
    const packages = readdirSync(join(ROOT, 'packages')).filter((name) => /^bench(-|$)/.test(name));
    expect(named.map(({ groups }) => groups?.['name'] ?? '').toSorted()).toEqual(packages.toSorted());
  });
});

/** The pages that list all entries of a table. */
const LISTS = [
  { page: 'docs/reference/report.md', what: 'reason', names: REASON_CODES },
  { page: 'docs/reference/bench-config-json.md', what: 'metric', names: METRIC_IDS },
  { page: 'docs/reference/workloads.md', what: 'workload', names: WORKLOAD_NAMES },
  { page: 'docs/reference/workloads.md', what: 'engine', names: ENGINE_NAMES },
  { page: 'docs/development/workloads.md', what: 'workload', names: WORKLOAD_NAMES },
];

describe.each(LISTS)('$page', ({ page, what, names }) => {
  it(`names every ${what}`, () => {
    const document = readDocument(page);
    expect(names.filter((name) => !document.includes(`\`${name}\``))).toEqual([]);
  });
});

describe('docs/reference/report.md', () => {
  it('explains the column of every metric', () => {
    const rows = [...readDocument('docs/reference/report.md').matchAll(/^\| (?<columns>[^|]+) \|/gm)];
    const explained = rows.flatMap(({ groups }) => groups?.['columns']?.split(', ') ?? []);
    expect(METRIC_IDS.map((id) => METRICS[id].label).filter((label) => !explained.includes(label))).toEqual(
      [],
    );
  });
});

describe('docs/reference/commands.md', () => {
  it('has every command of users', () => {
    const shown = findBlocks(readDocument('docs/reference/commands.md')).map(
      ({ words: [name = ''] }) => name,
    );
    expect(shown.toSorted()).toEqual(USER_COMMANDS.toSorted());
  });
});

/** The shelves that are read page by page. */
const PAGES = DOCUMENTS.filter((path) => /^docs\/(?:start|guides|concepts|reference|findings)\//.test(path));

describe.each(PAGES)('the page %s', (path) => {
  it('says whom it is for, or when and where it was measured, and what to read next', () => {
    const lines = readDocument(path).trimEnd().split('\n');
    expect(lines[0]).toMatch(/^# /);
    expect(lines[2]).toMatch(/^For .|^\*.+ 20\d\d, .+\*$/);
    expect(lines.at(-1)).toMatch(/^Next: \[.+\]\(.+\)$/);
  });
});

/** What sources, tests and tools say of documents: `docs/…` and the argument of `documentOf`. */
const NAMED = globSync(
  ['packages/*/{src,test,testing,experiments,planted}/**/*.{ts,md}', 'scripts/**/*.ts'],
  {
    cwd: ROOT,
  },
).flatMap((file) =>
  [
    ...readDocument(file).matchAll(/(?<![\w.])docs\/(?<one>[\w/-]+\.md)|documentOf\('(?<other>[^']+)'\)/g),
  ].map(({ groups }) => ({ file, name: `docs/${groups?.['one'] ?? groups?.['other']}` })),
);

describe('the sources', () => {
  it('name documents that exist', () => {
    expect(NAMED.length).toBeGreaterThan(20);
    expect(NAMED.filter(({ name }) => !existsSync(join(ROOT, name)))).toEqual([]);
  });
});

describe('the published runs', () => {
  it('are each named by a document, an experiment or a test', () => {
    const files = globSync(
      ['packages/*/{test,testing}/**/*.ts', 'packages/bench-lab/experiments/**/README.md'],
      { cwd: ROOT },
    );
    const all = [...DOCUMENTS, ...files].map(readDocument).join('\n');
    const runs = readdirSync(join(ROOT, 'results/published')).filter((name) => name !== 'README.md');
    expect(runs.filter((run) => !all.includes(run))).toEqual([]);
  });
});
