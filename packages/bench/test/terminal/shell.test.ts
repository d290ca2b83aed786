import { afterEach, expect, it, vi } from 'vitest';
import { logLine, print, screen } from '../../src/terminal/shell.ts';

afterEach(() => vi.restoreAllMocks());

it('the next text on either stream replaces all live lines', () => {
  const written: string[] = [];
  const keep = (text: unknown): boolean => written.push(String(text)) > 0;
  vi.spyOn(process.stderr, 'write').mockImplementation(keep);
  vi.spyOn(process.stdout, 'write').mockImplementation(keep);
  const cleared = '\r\u001B[K\u001B[A\r\u001B[K';
  screen.showLive('one\ntwo');
  logLine('three');
  screen.showLive('four\nfive');
  print('report');
  print(' goes on');
  expect(written).toEqual(['one\ntwo', `${cleared}three\n`, 'four\nfive', cleared, 'report', ' goes on']);
});
