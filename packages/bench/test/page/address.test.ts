import { describe, expect, it } from 'vitest';
import { formatAddress, parseAddress, passes, type Choice } from '../../page/address.ts';

const none: Choice = { section: '', filters: { stack: [], runtime: [], target: [], connections: [] } };

describe('the address of the page', () => {
  it.each<[string, Choice]>([
    ['#', none],
    ['#latency', { ...none, section: 'latency' }],
    [
      '#latency&stack=a%26b%3D%23&stack=fastify&connections=100',
      { section: 'latency', filters: { ...none.filters, stack: ['a&b=#', 'fastify'], connections: ['100'] } },
    ],
    [
      '#runtime=&metric=p99&row=10+fastapi%403.14',
      { section: '', filters: { ...none.filters, runtime: [''] }, metric: 'p99', row: '10 fastapi@3.14' },
    ],
  ])('%s keeps the section and the filters', (address, choice) => {
    expect(parseAddress(address)).toEqual(choice);
    expect(formatAddress(choice)).toBe(address);
  });

  it('ignores unknown words', () => {
    expect(parseAddress('#ranking&colour=red')).toEqual({ ...none, section: 'ranking' });
  });

  it('selects the rows that have one of the values of every filter', () => {
    const row = { stack: 'fastapi', runtime: 'python 3.14', target: 'fastapi/hypercorn', connections: 100 };
    const filters = { ...none.filters, stack: ['fastapi', 'fastify'], connections: ['100'] };
    expect(passes(row, none.filters)).toBe(true);
    expect(passes(row, filters)).toBe(true);
    expect(passes({ ...row, connections: 10 }, filters)).toBe(false);
    expect(passes({ ...row, stack: 'vanilla' }, filters)).toBe(false);
    expect(passes(row, { ...none.filters, target: ['fastapi'] })).toBe(false);
  });
});
