import { describe, expect, it } from 'vitest';
import { haveIds, ID } from '../../../src/catalogue/workloads/workload.ts';
import { createStamps, idsIn, nextSender } from '../../../src/catalogue/workloads/stamps.ts';
import { createSender } from 'bench-load/sender';
import { Ledger, Slot } from 'bench-load/ledger';
import type { RequestSpec } from 'bench-load/protocol';

const post = (body: string): RequestSpec => ({ method: 'POST', path: '/', headers: {}, body });

describe('ids', () => {
  it('are unique, as long as their placeholder, and found in any text', () => {
    const [one, other] = [createStamps(nextSender())[0], createStamps(nextSender())[0]];
    const given = Array.from({ length: 300 }, () => [one?.next() ?? '', other?.next() ?? '']).flat();
    expect(new Set(given).size).toBe(600);
    for (const id of [ID, ...given]) {
      expect(id).toHaveLength(ID.length);
      expect(idsIn(`{"id":"${id}"}`)).toEqual([id]);
    }
    expect(idsIn(`${given[0]}, ${given[1]}`)).toEqual(given.slice(0, 2));
  });

  it('are used by requests with the placeholder in their body', () => {
    expect(haveIds([post('{}'), post(`{"id":"${ID}"}`)])).toBe(true);
    expect(haveIds([post('{}'), { method: 'GET', path: '/', headers: {} }])).toBe(false);
  });
});

const address = { host: '127.0.0.1', port: 3000, skippedCycles: 0 };

describe('the sender', () => {
  it('sends the same bytes for a request without an id', () => {
    const sender = createSender({ ...address, requests: [post('{}')], sender: 1 });
    const slot = new Slot();
    const [first, second] = [sender.take(slot), sender.take(slot)];
    expect(second).toBe(first);
    expect(first.toString()).toMatch(/^POST \/ HTTP\/1\.1\r\nHost: 127\.0\.0\.1:3000\r\n[^]*\r\n\r\n\{\}$/);
    expect([slot.request, slot.own]).toEqual([0, undefined]);
  });

  it('records which of several requests a slot sends', () => {
    const sender = createSender({ ...address, requests: [post('{}'), post('[]')], sender: 1 });
    const slots = [new Slot(), new Slot(), new Slot()];
    for (const slot of slots) sender.take(slot);
    expect(slots.map(({ request }) => request)).toEqual([0, 1, 0]);
  });

  it('replaces the placeholders of each request with a new id, and leaves earlier bytes unchanged', () => {
    const sender = createSender({ ...address, requests: [post(`["${ID}","${ID}"]`)], sender: 7 });
    const slots = [new Slot(), new Slot()];
    const sent = slots.map((slot) => sender.take(slot));
    const [first, second] = slots.map(({ own }) => own?.id);
    expect(first).not.toBe(second);
    expect(sent.map((bytes) => bytes.toString().split('\r\n\r\n')[1])).toEqual(
      [first, second].map((id) => `["${id}","${id}"]`),
    );
  });
});

describe('a response to a request with a unique id', () => {
  const [own, another] = ['bench-000001-00000001', 'bench-000002-00000001'];
  const expected = { bytes: 0, sha256: '', around: ['{"id":"', '"}'] };

  /** Returns the counts of the window after a response with this body. */
  function judge(body: string, status = 200) {
    const ledger = new Ledger({ expected: [expected], hashEvery: 64, requests: [post('')] });
    ledger.open(1e9);
    const slot = ledger.addSlot();
    slot.own = { id: own, answer: [] };
    ledger.send(slot);
    for (const byte of Buffer.from(body)) ledger.receive(slot, Buffer.from([byte]));
    ledger.complete(slot, status, 1);
    const { ok, mismatch, non2xx } = ledger.account.counts;
    return { ok, mismatch, non2xx, crossed: ledger.account.crossed };
  }

  it.each([
    ['contains the id and is otherwise correct', `{"id":"${own}"}`, { ok: 1, crossed: 0 }],
    ['contains the id of another request', `{"id":"${another}"}`, { mismatch: 1, crossed: 1 }],
    ['contains both ids', `{"id":"${own}","was":"${another}"}`, { mismatch: 1, crossed: 1 }],
    ['contains the id but differs elsewhere', `{"id":"${own}" }`, { mismatch: 1, crossed: 0 }],
    ['contains no id', '{"id":""}', { mismatch: 1, crossed: 0 }],
  ])('is counted correctly if it %s', (_, body, counted) => {
    expect(judge(body)).toMatchObject(counted);
  });

  it('is counted as an error before its id is checked', () => {
    expect(judge(`{"id":"${another}"}`, 500)).toMatchObject({ non2xx: 1, mismatch: 0, crossed: 0 });
  });

  it('is checked only for its id if no exact body is expected', () => {
    const judgeAny = (body: string) => {
      const ledger = new Ledger({ expected: undefined, hashEvery: 64, requests: [post('')] });
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
