/** Writes the fixtures into a folder: `node make.ts FOLDER [--fixtures 10] [--items 20]`. */
import { parseArgs } from 'node:util';
import { makeFixtures, pathOf, writeFixtures } from './fixtures.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { fixtures: { type: 'string', default: '10' }, items: { type: 'string', default: '20' } },
});
const [folder = '.'] = positionals;
const texts = makeFixtures({ fixtures: Number(values.fixtures), items: Number(values.items) });
writeFixtures(folder, texts);
for (const [fixture, text] of texts.entries())
  process.stdout.write(`${folder}${pathOf(fixture)} ${text.length} bytes\n`);
