import { describe, expect, it } from 'vitest';
import { devices } from '../../../src/catalogue/workloads/devices.ts';
import {
  canonicalise,
  checkJson,
  describeDifference,
  excerpt,
  type Answer,
} from '../../../src/catalogue/workloads/workload.ts';
import { createRandom } from 'bench-statistics/random';

function drawOf(seed: number): ReturnType<typeof devices.draw> {
  const random = createRandom(seed);
  return devices.draw(() => random.float(), {});
}

const goldenOf = (seed: number): string => drawOf(seed).files['BENCH_DEVICES'] ?? '';

describe('devices', () => {
  const draw = drawOf(1);
  const golden = goldenOf(1);
  const right: Answer = {
    status: 200,
    contentType: 'application/json; charset=utf-8',
    body: Buffer.from(golden),
  };
  const wrongWith = (given: Partial<Answer>): string | undefined => draw.check({ ...right, ...given }, 0);

  it('draws the same devices for the same seed, and different ones for other seeds', () => {
    expect(goldenOf(1)).toBe(golden);
    const draws = Array.from({ length: 200 }, (_, seed) => goldenOf(seed));
    expect(new Set(draws).size).toBe(200);
  });

  it('draws the same number of bytes for every seed', () => {
    const lengths = Array.from({ length: 500 }, (_, seed) => Buffer.byteLength(goldenOf(seed)));
    expect(new Set(lengths)).toEqual(new Set([Buffer.byteLength(golden)]));
  });

  it('draws three devices with all fields', () => {
    const list = JSON.parse(golden) as Record<string, unknown>[];
    expect(list).toHaveLength(3);
    for (const device of list) {
      expect(device).toEqual({
        id: expect.any(Number),
        uuid: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/),
        mac: expect.stringMatching(/^([0-9A-F]{2}:){5}[0-9A-F]{2}$/),
        firmware: expect.stringMatching(/^\d\.\d\.\d$/),
        created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        updated_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      });
    }
  });

  it('requests one list, whose correct responses are identical byte by byte', () => {
    expect(draw.requests).toEqual([{ method: 'GET', path: '/api/devices', headers: {} }]);
    expect(draw.fixedBody).toBe(true);
  });

  it('accepts the drawn list with any whitespace and any order of keys', () => {
    expect(draw.check(right, 0)).toBeUndefined();
    const spaced = JSON.stringify(JSON.parse(golden), null, 2);
    expect(wrongWith({ body: Buffer.from(spaced), contentType: 'application/json' })).toBeUndefined();
    const turned = (JSON.parse(golden) as object[]).map((device) =>
      Object.fromEntries(Object.entries(device).toReversed()),
    );
    expect(wrongWith({ body: Buffer.from(JSON.stringify(turned)) })).toBeUndefined();
  });

  it('rejects a hard-coded list, and a list in another order', () => {
    expect(wrongWith({ body: Buffer.from(goldenOf(2)) })).toMatch(/^wrong body: "…/);
    const list = JSON.parse(golden) as object[];
    expect(wrongWith({ body: Buffer.from(JSON.stringify(list.toReversed())) })).toMatch(/^wrong body/);
    expect(wrongWith({ body: Buffer.from(JSON.stringify(list.slice(1))) })).toMatch(/^wrong body/);
    expect(wrongWith({ body: Buffer.from(golden.replace(/"id":(\d)/, '"id":"$1"')) })).toMatch(/^wrong body/);
  });

  it('rejects a body that is not JSON', () => {
    expect(wrongWith({ body: Buffer.from('') })).toBe('the body is not JSON: ');
    expect(wrongWith({ body: Buffer.from(golden.slice(0, -1)) })).toMatch(/^the body is not JSON: \[\{/);
  });

  it('rejects any status other than 200, regardless of the body', () => {
    expect(wrongWith({ status: 500, body: Buffer.from('oh  no\n') })).toBe(
      'status 500 instead of 200: oh no',
    );
    expect(wrongWith({ status: 201 })).toMatch(/^status 201 instead of 200/);
  });

  it.each(['text/plain', '', 'application/jsonp', 'text/html; application/json'])(
    'rejects the content type %j',
    (contentType) => {
      expect(wrongWith({ contentType })).toBe(`content type "${contentType}" instead of application/json`);
    },
  );
});

describe('the helpers that check answers', () => {
  it('give equal JSON values the same canonical text', () => {
    expect(canonicalise('{"b":1,"a":{"d":[2,{"f":1,"e":2}],"c":null}}')).toBe(
      '{"a":{"c":null,"d":[2,{"e":2,"f":1}]},"b":1}',
    );
    expect(canonicalise('[1, 2]')).not.toBe(canonicalise('[2, 1]'));
    expect(() => canonicalise('{')).toThrow(SyntaxError);
  });

  it('show where a body begins to differ', () => {
    const answer = { status: 200, contentType: 'application/json', body: Buffer.from('{"name":"pump 7"}') };
    expect(checkJson(answer, '{"name":"pump 8"}')).toBe(
      'wrong body: "…{"name":"pump 7"}…" instead of "…{"name":"pump 8"}…"',
    );
    expect(checkJson(answer, '{"name":"pump 7"}')).toBeUndefined();
  });

  it.each([
    ['{"total":42}', '{"total":43}', 'from byte 11 on, "{"total":43}" instead of "{"total":42}"'],
    ['[1]', '[1]\n', 'from byte 4 on, "[1] " instead of "[1]"'],
    ['', 'x', 'from byte 1 on, "x" instead of ""'],
  ])('describe how a body differs from an earlier one: %j, then %j', (before, now, words) => {
    expect(describeDifference(Buffer.from(now), Buffer.from(before))).toBe(words);
  });

  it('describe a difference far in a body by its surroundings', () => {
    const [before, now] = [1, 2].map((end) => Buffer.from(`${'x'.repeat(5000)}${end}${'y'.repeat(100)}`));
    expect(describeDifference(now as Buffer, before as Buffer)).toBe(
      `from byte 5,001 on, "…${'x'.repeat(20)}2${'y'.repeat(39)}…" instead of "…${'x'.repeat(20)}1${'y'.repeat(39)}…"`,
    );
  });

  it('keep an excerpt short', () => {
    expect(excerpt(Buffer.from('a \n b'))).toBe('a b');
    expect(excerpt('x'.repeat(200))).toBe(`${'x'.repeat(120)}…`);
  });
});
