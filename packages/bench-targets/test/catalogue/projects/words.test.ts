import { describe, expect, it } from 'vitest';
import { joinWords, splitCommand } from '../../../src/catalogue/projects/words.ts';
import { errorOf } from '../../../../bench-lab/testing/samples.ts';

describe('a command line', () => {
  it.each([
    ['uvicorn app:app --port {port}', ['uvicorn', 'app:app', '--port', '{port}']],
    ["node  -e 'a b' ", ['node', '-e', 'a b']],
    [String.raw`./serve "a \"b\"" c\ d ''`, ['./serve', 'a "b"', 'c d', '']],
    [`sh -c 'echo $HOME | cat'`, ['sh', '-c', 'echo $HOME | cat']],
  ])('is split into words as a shell would: %s', (line, words) => {
    expect(splitCommand(line, '--run')).toEqual({ words, env: {} });
  });

  it('can set variables before the command, and only there', () => {
    expect(splitCommand("A=1 B='x y' node s.js C=2", '--run')).toEqual({
      words: ['node', 's.js', 'C=2'],
      env: { A: '1', B: 'x y' },
    });
  });

  it.each([
    ['a && b', '"&" has no meaning'],
    ['a > log', '">" has no meaning'],
    ['serve $PORT', 'nothing replaces the variable'],
    ['serve "$PORT"', 'nothing replaces the variable'],
    ['serve `port`', 'nothing replaces the variable or the command'],
    ["serve 'a", "the quote ' is not closed"],
    ['', 'expected a command'],
    ['A=1', 'expected a command'],
  ])('is rejected if it is invalid or needs a shell: %s', (line, problem) => {
    const error = errorOf(() => splitCommand(line, '--run'));
    expect(error.code).toBe('usage');
    expect(error.message).toContain(problem);
  });

  it('is quoted so that it splits into the same words', () => {
    const words = ['node', '-e', "it's", '{port}', 'a b', ''];
    expect(splitCommand(joinWords(words), '--run').words).toEqual(words);
  });
});
