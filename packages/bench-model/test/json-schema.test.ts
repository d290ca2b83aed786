import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Ajv } from 'ajv';
import { describe, expect, it } from 'vitest';
import { createCheck } from '../src/json-schema.ts';
import { createRandom } from 'bench-statistics/random';
import { readRun } from 'bench-analysis/results/store';

const OPTIONS = { allowUnionTypes: true };
/** About a tenth of them are still right. No more than a check interprets: of more values, Ajv would decide. */
const CHANGES = 400;

/** Wrong values of most fields, and right ones of some. */
const OTHERS = [null, 'x', '', -1, 0, 1.5, true, [], [1], {}];

type Container = Record<string, unknown>;

function readSchema(name: string): object {
  return JSON.parse(
    readFileSync(new URL(`../schema/${name}.schema.json`, import.meta.url), 'utf8'),
  ) as object;
}

/** Returns every field and item below a value: its container and its key. */
function placesIn(value: unknown): [Container, string][] {
  if (typeof value !== 'object' || value === null) return [];
  const container = value as Container;
  return Object.entries(container).flatMap(([key, inner]) => [
    [container, key] as [Container, string],
    ...placesIn(inner),
  ]);
}

describe('the check of a value', () => {
  const stored = readRun(fileURLToPath(new URL('../../bench-lab/testing/fixtures/run', import.meta.url)));
  const { folder: _folder, host, trials, ...run } = stored;

  it.each([
    ['record', trials[0]],
    ['run', run],
    ['host', host],
  ])('decides as Ajv does, whatever is changed: %s', (name, value) => {
    const schema = readSchema(name);
    const check = createCheck({ schema, options: OPTIONS });
    const isRight = new Ajv(OPTIONS).compile(schema);
    expect(check(value)).toEqual([]);
    const random = createRandom(1);
    let right = 0;
    for (let change = 0; change < CHANGES; change++) {
      const changed = structuredClone(value);
      const places = placesIn(changed);
      const [container, key] = places[random.below(places.length)]!;
      const other = random.below(OTHERS.length + 2);
      if (other < OTHERS.length) container[key] = OTHERS[other];
      else if (other > OTHERS.length || Array.isArray(container)) container[`${key}x`] = 1;
      else delete container[key];
      const plain: unknown = JSON.parse(JSON.stringify(changed));
      expect({ key, other, isRight: check(plain).length === 0 }).toEqual({
        key,
        other,
        isRight: isRight(plain),
      });
      if (isRight(plain)) right++;
    }
    expect(right).toBeGreaterThan(0);
    expect(right).toBeLessThan(CHANGES);
  });

  it('takes a schema with references both alone and as part of another', () => {
    const line = { type: 'object', properties: { at: { $ref: '#/definitions/at' } } };
    const inner = { ...line, definitions: { at: { type: 'integer' } } };
    const outer = { type: 'object', properties: { line: { $ref: 'line.json' } } };
    const alone = createCheck({ schema: inner, options: {} });
    const inside = createCheck({ schema: outer, others: { 'line.json': inner }, options: {} });
    const again = createCheck({ schema: inner, options: {} });
    expect([alone({ at: 1 }), inside({ line: { at: 1 } }), again({ at: 1 })]).toEqual([[], [], []]);
    const wrong = { keyword: 'type', message: 'must be integer' };
    expect(alone({ at: 'x' })).toMatchObject([wrong]);
    expect(inside({ line: { at: 'x' } })).toMatchObject([wrong]);
    expect(again({ at: 'x' })).toMatchObject([wrong]);
  });

  it('names what is wrong as Ajv does', () => {
    const check = createCheck({
      schema: { type: 'object', properties: { one: { $ref: 'two.json' } } },
      others: { 'two.json': { type: 'integer' } },
      options: {},
    });
    expect(check({ one: 1 })).toEqual([]);
    expect(check({ one: 'x' })).toMatchObject([
      { instancePath: '/one', keyword: 'type', message: 'must be integer' },
    ]);
    expect(check({ one: 2 })).toEqual([]);
  });
});
