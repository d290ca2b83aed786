import { describe, expect, it } from 'vitest';
import { haveIds, ID } from '../../../src/catalogue/workloads/workload.ts';
import { createIds, idsIn, nextSender } from '../../../src/catalogue/workloads/ids.ts';
import { createStamp } from '../../../src/load/stamp.ts';
import { Ledger, Slot } from '../../../src/load/ledger.ts';
import type { RequestSpec } from '../../../src/load/protocol.ts';

const post = (body: string): RequestSpec => ({ method: 'POST', path: '/', headers: {}, body });

describe('ids', () => {
  it('are as long as their placeholder, found in any text, and no two are the same', () => {
    const [one, other] = [createIds(nextSender()), createIds(nextSender())];
    const given = Array.from({ length: 300 }, () => [one(), other()]).flat();
    expect(new Set(given).size).toBe(600);
    for (const id of [ID, ...given]) {
      expect(id).toHaveLength(ID.length);
      expect(idsIn(`{"id":"${id}"}`)).toEqual([id]);
    }
    expect(idsIn(`${given[0]}, ${given[1]}`)).toEqual(given.slice(0, 2));
  });

  it('are had by requests with the placeholder in their body', () => {
    expect(haveIds([post('{}'), post(`{"id":"${ID}"}`)])).toBe(true);
    expect(haveIds([post('{}'), { method: 'GET', path: '/', headers: {} }])).toBe(false);
  });
});

describe('the stamp of requests', () => {
  it('is none for a single request without an id', () => {
    expect(createStamp([post('{}')], 1)).toBeUndefined();
  });

  it('says which of several a slot sends', () => {
    const stamp = createStamp([post('{}'), post('[]')], 1);
    const [slot, bytes] = [new Slot(), Buffer.from('POST / HTTP/1.1')];
    expect(stamp?.(slot, 1, bytes)).toBe(bytes);
    expect([slot.request, slot.own]).toEqual([1, undefined]);
  });

  it('puts a new id wherever the placeholder stands, and leaves what was sent before as it was', () => {
    const stamp = createStamp([post('{}'), post(`["${ID}","${ID}"]`)], 7);
    const bytes = Buffer.from(`POST / HTTP/1.1\r\n\r\n["${ID}","${ID}"]`);
    const slots = [new Slot(), new Slot()];
    const sent = slots.map((slot) => stamp?.(slot, 1, bytes).toString());
    const [first, second] = slots.map(({ own }) => own?.id);
    expect(first).not.toBe(second);
    expect(sent).toEqual([first, second].map((id) => `POST / HTTP/1.1\r\n\r\n["${id}","${id}"]`));
    expect(bytes.toString()).toContain(ID);
    expect(slots.map(({ request }) => request)).toEqual([1, 1]);
  });
});

describe('an answer to a request with an id of its own', () => {
  const [own, another] = ['bench-000001-00000001', 'bench-000002-00000001'];
  const expected = { bytes: 0, sha256: '', around: ['{"id":"', '"}'] };

  /** What an answer with this body is counted as, in a window. */
  function judge(body: string, status = 200) {
    const ledger = new Ledger([expected], 64);
    ledger.open(1e9);
    const slot = ledger.addSlot();
    slot.own = { id: own, answer: [] };
    ledger.send(slot);
    for (const byte of Buffer.from(body)) ledger.receive(slot, Buffer.from([byte]));
    ledger.complete(slot, status, 1);
    const { ok, mismatch, non2xx } = ledger.window;
    return { ok, mismatch, non2xx, crossed: ledger.crossed };
  }

  it.each([
    ['tells it, and is whole', `{"id":"${own}"}`, { ok: 1, crossed: 0 }],
    ['tells that of another', `{"id":"${another}"}`, { mismatch: 1, crossed: 1 }],
    ['tells both', `{"id":"${own}","was":"${another}"}`, { mismatch: 1, crossed: 1 }],
    ['tells it, with something wrong beside it', `{"id":"${own}" }`, { mismatch: 1, crossed: 0 }],
    ['tells none', '{"id":""}', { mismatch: 1, crossed: 0 }],
  ])('that %s', (_, body, counted) => {
    expect(judge(body)).toMatchObject(counted);
  });

  it('is an error before it is anybody’s', () => {
    expect(judge(`{"id":"${another}"}`, 500)).toMatchObject({
      non2xx: 1,
      mismatch: 0,
      crossed: 0,
    });
  });

  it('is right with nothing but its id, where right answers differ in their bytes', () => {
    const judgeAny = (body: string) => {
      const ledger = new Ledger(undefined, 64);
      const slot = ledger.addSlot();
      slot.own = { id: own, answer: [] };
      ledger.send(slot);
      ledger.receive(slot, Buffer.from(body));
      ledger.complete(slot, 200, 1);
      return ledger.lifetime;
    };
    expect(judgeAny(`{"at":1,"id":"${own}"}`)).toMatchObject({ ok: 1 });
    expect(judgeAny(`{"at":1,"id":"${another}"}`)).toMatchObject({ mismatch: 1 });
    expect(judgeAny('{"at":1}')).toMatchObject({ mismatch: 1 });
  });
});
