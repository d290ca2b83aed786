import { describe, expect, it } from 'vitest';
import { fillCommand } from '../../src/measure/launch.ts';

const COMMAND = ['python', '--bind={host}:{port}', '--workers', '{workers}', '--threads={threads}', '-q'];

describe('fillCommand', () => {
  it('fills in every placeholder', () => {
    expect(fillCommand(COMMAND, { host: '127.0.0.1', port: 80, workers: 1, threads: 2 })).toEqual([
      'python',
      '--bind=127.0.0.1:80',
      '--workers',
      '1',
      '--threads=2',
      '-q',
    ]);
  });

  it('leaves the number of threads to a server that was not told', () => {
    const filled = fillCommand(COMMAND, { host: '127.0.0.1', port: 80, workers: 2 });
    expect(filled).toEqual(['python', '--bind=127.0.0.1:80', '--workers', '2', '-q']);
  });
});
