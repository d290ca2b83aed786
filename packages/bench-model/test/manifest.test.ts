import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { manifest, requestsFile } from '../src/manifest.ts';

/** The parts of a definition that hold fields. */
interface Definition {
  description?: string;
  /** The description of a named definition at one place. */
  '~use'?: string;
  properties?: Record<string, Definition>;
  additionalProperties?: Definition | boolean;
  items?: Definition;
  then?: Definition;
  else?: Definition;
}

const { services, setup } = manifest.properties;

/** The documents with a table of fields, and the definitions that have them, the first for a name that several have. */
const DOCUMENTS: [path: string, definitions: object[]][] = [
  ['reference/stack-json.md', [manifest]],
  ['guides/add-a-framework.md', [manifest]],
  ['guides/requests.md', [requestsFile]],
  ['guides/services.md', [services, { properties: { setup } }]],
];

/** Lists the fields of a definition, then those of its parts. */
function fieldsOf(definition: object): [name: string, description: string][] {
  const {
    properties = {},
    additionalProperties: values,
    items,
    then,
    else: other,
  } = definition as Definition;
  return [
    ...Object.entries(properties).map(([name, { '~use': use, description = '' }]): [string, string] => [
      name,
      use ?? description,
    ]),
    ...[...Object.values(properties), values, items, then, other].flatMap((part) =>
      typeof part === 'object' ? fieldsOf(part) : [],
    ),
  ];
}

const fileOf = (path: string): string => fileURLToPath(new URL(`../../../docs/${path}`, import.meta.url));
const read = (path: string): string => readFileSync(fileOf(path), 'utf8');

const TABLE = /(?<=^\| field \| meaning \|\n\|---\|---\|\n)(?:\|.*\n)+/m;
/** A row of one field. A row that refers to another document has a link in place of a meaning. */
const ROW = /^\| `(\w+)` \| (?!\[).* \|$/gm;

/** Returns a document with the meanings of its fields as they are defined. */
function withMeanings(text: string, definitions: readonly object[]): string {
  const fields = definitions.flatMap(fieldsOf);
  return text.replace(TABLE, (table) =>
    table.replaceAll(ROW, (_, name: string) => {
      const [, description] = fields.find(([one]) => one === name) ?? [];
      expect(description, `${name} has no description`).toMatch(/\.$/);
      const meaning = description?.slice(0, -1).replace(/^[A-Z](?![A-Z])/, (letter) => letter.toLowerCase());
      return `| \`${name}\` | ${meaning} |`;
    }),
  );
}

describe('the documents', () => {
  it.each(DOCUMENTS)('explain the fields as their definition does: %s', async (path, definitions) => {
    expect(read(path).match(TABLE)?.[0].match(ROW)?.length).toBeGreaterThan(3);
    await expect(withMeanings(read(path), definitions)).toMatchFileSnapshot(fileOf(path));
  });

  it('name every field', () => {
    const all = DOCUMENTS.map(([path]) => read(path)).join('\n');
    const names = new Set(fieldsOf(manifest).map(([name]) => name));
    expect(names.size).toBeGreaterThan(30);
    expect([...names].filter((name) => !all.includes(`\`${name}\``) && !all.includes(`"${name}"`))).toEqual(
      [],
    );
  });
});
