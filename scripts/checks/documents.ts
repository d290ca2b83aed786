/** The sizes and the words that documents may have, so that they stay readable. Run as a program, checks those of this repository. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** The most lines of a document. */
const LINES: Readonly<Record<string, number>> = { 'README.md': 90, 'CHANGELOG.md': 40 };
/** The most words of a finding, and of all documents together. A word has a letter or a digit: the bars of a table have none. */
const FINDING = 400;
const TOGETHER = 21_600;
/** The most pages of findings. */
const FINDINGS = 12;

/** Lists the documents that people read, as paths from the root. */
export function listDocuments(): string[] {
  const pages = globSync('docs/**/*.md', { cwd: ROOT }).toSorted();
  return ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', ...pages];
}

/** Returns what is too long in these documents without their pictures, by path: a line for each limit that is exceeded. */
export function listTooLong(whole: ReadonlyMap<string, string>): string[] {
  const documents = new Map(
    [...whole].map(([path, text]) => [path, text.replaceAll(/<picture>.*?<\/picture>\n/gs, '')]),
  );
  const words = new Map(
    [...documents].map(([path, text]) => [path, text.match(/\S*[\p{L}\p{N}]\S*/gu)?.length ?? 0]),
  );
  const findings = [...words].filter(([path]) => path.startsWith('docs/findings/'));
  const all = [...words.values()].reduce((sum, count) => sum + count, 0);
  return [
    ...Object.entries(LINES).flatMap(([path, most]) => {
      const lines = (documents.get(path) ?? '').trimEnd().split('\n').length;
      return lines > most ? [`${path} has ${lines} lines: at most ${most}`] : [];
    }),
    ...findings.flatMap(([path, count]) =>
      count > FINDING ? [`${path} has ${count} words: a finding has at most ${FINDING}`] : [],
    ),
    ...(findings.length > FINDINGS ? [`there are ${findings.length} findings: at most ${FINDINGS}`] : []),
    ...(all > TOGETHER ? [`the documents have ${all} words: at most ${TOGETHER}`] : []),
  ];
}

/** Returns the lines that call a response an answer, outside of code and of what is generated. */
export function listAnswers(documents: ReadonlyMap<string, string>): string[] {
  const code = /^ *```.*?^ *```|<!-- (?!end).*?<!-- end -->|`[^`\n]+`/gms;
  return [...documents].flatMap(([path, text]) =>
    text
      .replaceAll(code, (hidden) => hidden.replaceAll(/[^\n]/g, ''))
      .split('\n')
      .flatMap((line, index) => (/answer/i.test(line) ? [`${path}:${index + 1}: say response`] : [])),
  );
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const texts = new Map(listDocuments().map((path) => [path, readFileSync(join(ROOT, path), 'utf8')]));
  const found = [...listTooLong(texts), ...listAnswers(texts)];
  process.stdout.write(found.map((line) => `${line}\n`).join(''));
  process.exitCode = found.length > 0 ? 1 : 0;
}
