import { describe, expect, it } from 'vitest';
import {
  header,
  listOf,
  oneOf,
  pair,
  request,
  share,
  span,
  text,
  variable,
  wholeNumber,
  type Reader,
} from '../../src/cli/values.ts';
import { errorOf } from '../../../bench-lab/testing/samples.ts';

const READS: [string, Reader<unknown>, string, unknown][] = [
  ['text', text, 'a b', 'a b'],
  ['whole number', wholeNumber(), '10000', 10_000],
  ['whole number from 0', wholeNumber(0), '0', 0],
  ['span', span(), '2.5s', 2.5],
  ['span', span(), '.5', 0.5],
  ['span', span(), '500ms', 0.5],
  ['span from 0', span(0), '0', 0],
  ['span', span(), '90', 90],
  ['span', span(), '10m', 600],
  ['span', span(), '1.5h', 5400],
  ['share', share, '3%', 0.03],
  ['share', share, '0.05', 0.05],
  ['word', oneOf(['a', 'b']), 'b', 'b'],
  ['list', listOf(wholeNumber()), '1, 2,3', [1, 2, 3]],
  ['pair', pair, 'n=24', ['n', 24]],
  ['request', request, ' GET /a?b=c ', { method: 'GET', path: '/a?b=c' }],
  ['header', header, 'X-A: b: c', ['x-a', 'b: c']],
  ['variable', variable, 'WORKERS=1,4', ['WORKERS', ['1', '4']]],
];

const REFUSES: [string, Reader<unknown>, string[]][] = [
  ['text', text, ['']],
  ['whole number', wholeNumber(), ['0', '-5', 'ten', '1.5', '', ' ', '1e400', 'NaN', '9007199254740992']],
  ['whole number from 0', wholeNumber(0), ['-1']],
  ['span', span(), ['0', '0.05', '50ms', 'soon', 's', '10d', '', '-1', 'Infinity', '1e3']],
  ['span of at least 4 s', span(4), ['3', '3.9s', '0.05m']],
  ['share', share, ['0', '1', '200%', 'x', '']],
  ['word', oneOf(['a', 'b']), ['c', '', 'toString']],
  ['list', listOf(wholeNumber()), ['10,', '10,,100', '', '10,-100']],
  ['pair', pair, ['n', 'n=', '=1', 'n=-1', 'n=1.5', 'n=1e3', '']],
  ['request', request, ['fib', '/fib/42', 'GET', 'GET fib/42', 'GET /fib 42', 'FETCH /fib', '']],
  ['header', header, ['authorization', ': x', 'a b: c', '']],
  ['variable', variable, ['WORKERS', 'WORKERS=1', '=1,2', '1=1,2', '']],
];

describe('the value of an option', () => {
  it.each(READS)('%s is read', (_, read, typed, value) => {
    expect(read(typed, 'x')).toEqual(value);
  });

  it.each(REFUSES.flatMap(([kind, read, texts]) => texts.map((typed) => [kind, typed, read] as const)))(
    '%s rejects %j',
    (_kind, typed, read) => {
      const { code, message } = errorOf(() => read(typed, 'x'));
      expect(code).toBe('usage');
      expect(message).toContain('--x');
      expect(message).not.toContain('\n');
    },
  );
});
