import { describe, expect, it } from 'vitest';
import { describeEnd, fillCommand, tailOf } from '../src/launch.ts';

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

  it('omits the number of threads if it was not given', () => {
    const filled = fillCommand(COMMAND, { host: '127.0.0.1', port: 80, workers: 2 });
    expect(filled).toEqual(['python', '--bind=127.0.0.1:80', '--workers', '2', '-q']);
  });
});

const end = (log: string[], status = 'exit status 1'): string | undefined =>
  describeEnd({ ended: () => status, logTail: () => log });

describe('describeEnd', () => {
  it('returns undefined for a running server, whatever it has logged', () => {
    expect(describeEnd({ ended: () => undefined, logTail: () => ['Error: a while ago'] })).toBeUndefined();
  });

  it.each([
    ['Python', ['Traceback (most recent call last):', "ModuleNotFoundError: No module named 'orm'"]],
    ['Node', ["Error: Cannot find module 'orm'", '    at node:internal', '', 'Node.js v26.10.0']],
    ['Go', ['panic: no orm', '', 'goroutine 1 [running]:', 'main.main()', '\t/main.go:7 +0x18']],
    ['nginx', ['nginx: [emerg] bind() to 127.0.0.1:8080 failed (98: Address already in use)']],
    [
      'PostgreSQL',
      ['LOG:  starting', 'FATAL:  could not create lock file', 'LOG:  database system is shut down'],
    ],
    ['Rust', ["thread 'main' panicked at src/main.rs:7:5:", 'no orm', 'note: run with `RUST_BACKTRACE=1`']],
  ])('includes the error of %s', (_, log) => {
    const told = log.find((line) => /Error|panic|emerg|FATAL/.test(line));
    expect(end(log)).toBe(`exit status 1: ${told}`);
  });

  it.each([
    [
      'exit status 1: Could not find Litestar instance or factory',
      [
        'Using config',
        '╭─ Error ───────────────╮',
        '│ Could not find Litestar instance or factory │',
        '╰───────────────╯',
      ],
    ],
    [
      'exit status 1: psycopg.OperationalError: database "shop" does not exist',
      [
        'psycopg.OperationalError: database "shop" does not exist',
        'ERROR:    Application startup failed. Exiting.',
      ],
    ],
    [
      'exit status 1: pydantic_core.ValidationError: 2 validation errors for Settings (it misses db_user, db_name)',
      [
        'pydantic_core.ValidationError: 2 validation errors for Settings',
        'db_user',
        '  Field required [type=missing, input_value={}, input_type=dict]',
        '    For further information visit https://errors.pydantic.dev/2.5/v/missing',
        'db_name',
        '  Field required [type=missing, input_value={}, input_type=dict]',
      ],
    ],
  ])('takes the line that says most: %s', (said, log) => {
    expect(end(log)).toBe(said);
  });

  it('describes only the end if the log has no error', () => {
    expect(end(['listening on 3000', '0 errors so far'], 'ended by SIGKILL')).toBe('ended by SIGKILL');
  });

  it('shortens a long line', () => {
    expect(end([`Error: ${'x'.repeat(1000)}`])).toHaveLength('exit status 1: '.length + 200);
  });
});

const many = (count: number, line: string): string[] => Array.from({ length: count }, () => line);

describe('tailOf', () => {
  it('leaves out the frame of an error', () => {
    const log = [
      '╭─ Traceback ───╮',
      '│ shop.py:7     │',
      '│               │',
      '╰───────────────╯',
      'KeyError',
    ];
    expect(tailOf(log.join('\n'))).toEqual(['╭─ Traceback ───╮', '│ shop.py:7', 'KeyError']);
  });

  it('leaves out the frames of Node, above which its error is', () => {
    const error = ['Error: listen EADDRINUSE: address already in use :::4555', '    at /srv/server.js:2:133'];
    const log = [...error, ...many(20, '    at Module.load (node:internal/modules/cjs/loader:1678:32)')];
    expect(tailOf(log.join('\n'))).toEqual(error);
  });

  it('returns the last lines', () => {
    const log = ['panic: an old one', ...many(30, 'GET /orders 200'), '\u001B[31mlast\u001B[0m'];
    expect(tailOf(log.join('\n'))).toEqual([...many(19, 'GET /orders 200'), 'last']);
  });

  it.each([
    [
      'goroutines',
      ['fatal error: no orm', '', 'goroutine 1 [running]:', 'panic({0x1, 0x2})'],
      'goroutine 7 [runnable]:',
    ],
    [
      'frames of V8',
      ['FATAL ERROR: heap out of memory', '----- Native stack trace -----', '', ' 1: 0xe3 node::Fatal()'],
      ' 2: 0xf1 v8::internal::V8::FatalProcessOutOfMemory() [node]',
    ],
  ])('returns the head of a dump of %s, whose error is that of the server', (_, dump, more) => {
    const log = ['serving', ...dump, ...many(30, more)].join('\n');
    expect(tailOf(log)).toEqual([...dump, ...many(16, more)]);
    expect(end(tailOf(log), 'exit status 2')).toBe(`exit status 2: ${dump[0]}`);
  });
});
