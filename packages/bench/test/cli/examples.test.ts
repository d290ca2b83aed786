/** Types the command lines that the help and the documents show, as far as a command reads them. */
import { readFileSync } from 'node:fs';
import { BenchError } from 'bench-model/errors';
import { splitCommand } from 'bench-targets/catalogue/projects/words';
import { describe, expect, it } from 'vitest';
import { listDocuments } from '../../../../scripts/checks/documents.ts';
import { readFixture } from '../../../bench-lab/testing/samples.ts';
import { findCommands, loadCommand } from '../../src/cli/main.ts';

const ROOT = new URL('../../../../', import.meta.url);
/** Quotations of published runs, which were typed as the command line was then. */
const QUOTED = /^<!-- (?:example|terminal) .*?^<!-- end -->/gms;

const read = (path: string): string => readFileSync(new URL(path, ROOT), 'utf8').replaceAll(QUOTED, '');
const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };

/** Returns the words after `bench-http` of a line that begins with it or with a script of pnpm; undefined for others. */
function wordsOf(line: string): string[] | undefined {
  const [, own, script = '', rest = ''] =
    /^ *(?:\$ )?(?:npx -y )?(?:(?:pnpm(?:@12)? exec )?(bench-http)|pnpm(?:@12)? (?:run )?([\w:]+)) ?(.*)$/.exec(
      line,
    ) ?? [];
  const head = own === undefined ? scripts[script]?.replace(/^bench-http ?/, '') : '';
  // A form such as `report <run>` is no example.
  if (head === undefined || /<|\[|…/.test(rest.replaceAll(/'[^']*'/g, ''))) return undefined;
  if (script !== '' && !scripts[script]?.startsWith('bench-http')) return undefined;
  const typed = rest.split(/ (?:&&|\|\||[|;#>]|2>) ?| {2,}/)[0] ?? '';
  return splitCommand(`${head} ${typed}`.trim(), 'an example').words;
}

/** Files that a reader has, and the repository does not; and a command that is named without its argument. */
const ABSENT = /: cannot be read|: the file cannot be read|: not a folder|has no stack\.json|^name an? /;

const SHOWN = new Map(
  [...listDocuments(), 'help'].map((path) => {
    const text = (path === 'help' ? readFixture('golden/help.txt') : read(path)).replaceAll('\\\n', ' ');
    const blocks = [...text.matchAll(/^ *```\w*\n(.*?)^ *```$/gms)].map(([, code = '']) => code);
    const spans = [...text.matchAll(/`((?:npx -y )?(?:pnpm|bench-http) [^`\n]+)`/g)].map(
      ([, code = '']) => code,
    );
    return [
      path,
      path === 'help'
        ? text.split('\n')
        : [...blocks, ...spans]
            .flatMap((code) => code.split('\n'))
            .flatMap((line) => line.split(/ && (?=bench-http)/)),
    ];
  }),
);

it('reads the examples', () => {
  expect([...SHOWN.values()].flat().flatMap((line) => wordsOf(line) ?? []).length).toBeGreaterThan(300);
});

describe.each([...SHOWN])('the examples of %s', (_path, lines) => {
  it('are command lines that a command takes', async () => {
    const files = findCommands();
    const refused: string[] = [];
    for (const line of lines) {
      const words = wordsOf(line);
      if (words === undefined) continue;
      const [name = '', ...rest] = words;
      const file = files.get(name.startsWith('-') || name === '' ? 'bench' : name);
      if (words.some((word) => /^-*(help(-all)?|version)$/.test(word))) continue;
      try {
        if (file === undefined) throw new BenchError('usage', `unknown command ${name}`);
        (await loadCommand(file)).parse(name.startsWith('-') ? words : rest);
      } catch (error) {
        const { message } = error as Error;
        if (!ABSENT.test(message)) refused.push(`${line.trim()}: ${message}`);
      }
    }
    expect(refused).toEqual([]);
  });
});
