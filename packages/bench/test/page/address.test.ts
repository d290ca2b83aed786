import { describe, expect, it } from 'vitest';
import {
  formatAddress,
  parseAddress,
  passes,
  type Choice,
  type Filters,
} from '../../../bench-report/page/address.ts';

interface Row {
  stack: string;
  runtime: string;
  target: string;
  connections: number;
}

const FILTERS: Filters<Row, 'stack' | 'runtime' | 'target' | 'connections'> = {
  stack: { label: 'Stack', of: ({ stack }) => stack },
  runtime: { label: 'Runtime', of: ({ runtime }) => runtime },
  target: { label: 'Target', of: ({ target }) => target },
  connections: { label: 'Connections', of: ({ connections }) => String(connections) },
};
const NAMES = ['stack', 'runtime', 'target', 'connections'] as const;

const none: Choice<(typeof NAMES)[number]> = {
  section: '',
  filters: { stack: [], runtime: [], target: [], connections: [] },
};

describe('the address of the page', () => {
  it.each<[string, typeof none]>([
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
    expect(parseAddress(address, NAMES)).toEqual(choice);
    expect(formatAddress(choice)).toBe(address);
  });

  it('ignores unknown words', () => {
    expect(parseAddress('#ranking&colour=red', NAMES)).toEqual({ ...none, section: 'ranking' });
  });

  it('selects the rows that have one of the values of every filter', () => {
    const row = { stack: 'fastapi', runtime: 'python 3.14', target: 'fastapi/hypercorn', connections: 100 };
    const filters = { ...none.filters, stack: ['fastapi', 'fastify'], connections: ['100'] };
    expect(passes(row, FILTERS, none.filters)).toBe(true);
    expect(passes(row, FILTERS, filters)).toBe(true);
    expect(passes({ ...row, connections: 10 }, FILTERS, filters)).toBe(false);
    expect(passes({ ...row, stack: 'vanilla' }, FILTERS, filters)).toBe(false);
    expect(passes(row, FILTERS, { ...none.filters, target: ['fastapi'] })).toBe(false);
  });
});
