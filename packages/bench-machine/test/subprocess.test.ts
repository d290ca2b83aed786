import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { lastPrinted, run, runSync, start, stopPrograms, SubprocessError } from '../src/subprocess.ts';

const node = (program: string): string[] => [process.execPath, '-e', program];

async function failureOf(running: Promise<unknown>): Promise<SubprocessError> {
  const error: unknown = await running.catch((thrown: unknown) => thrown);
  if (!(error instanceof SubprocessError)) throw new Error('it did not fail', { cause: error });
  return error;
}

describe('run', () => {
  it('returns both outputs as they were printed', async () => {
    const output = await run(node("console.log('a'); console.error('b')"));
    expect(output).toEqual({ stdout: 'a\n', stderr: 'b\n' });
  });

  it('passes every word unchanged', async () => {
    const words = ['', 'a b', "it's", '"$HOME"', '$(id)', '`id`', '*', 'a\nb', 'é', '\\', '--', ';', '!'];
    const { stdout } = await run([
      ...node('console.log(JSON.stringify(process.argv.slice(1)))'),
      '--',
      ...words,
    ]);
    expect(JSON.parse(stdout)).toEqual(words);
  });

  it('replaces the environment and keeps unusual names of variables', async () => {
    const env = { PATH: process.env['PATH'], 'npm_config_//host/:key': 'x', A: '1' };
    const { stdout } = await run(node('console.log(JSON.stringify(process.env))'), { env });
    expect(JSON.parse(stdout)).toMatchObject({ 'npm_config_//host/:key': 'x', A: '1' });
    expect(JSON.parse(stdout)).not.toHaveProperty('HOME');
  });

  it('ignores the settings of zx in the environment of the user', async () => {
    const program = `
      import { run } from ${JSON.stringify(new URL('../src/subprocess.ts', import.meta.url).href)};
      console.log((await run(['pwd'])).stdout);
    `;
    const zx = { ZX_PREFIX: 'echo prefixed;', ZX_CWD: '/', ZX_SHELL: '/bin/false', ZX_VERBOSE: 'true' };
    const argv = [process.execPath, '--input-type=module', '-e', program];
    const output = await run(argv, { env: { ...process.env, ...zx } });
    expect(output).toEqual({ stdout: `${process.cwd()}\n\n`, stderr: '' });
  });

  it('gives the program an empty stdin', async () => {
    expect(await run(['cat'])).toEqual({ stdout: '', stderr: '' });
  });

  it('shows the last line of a program while it runs, without control characters', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'bench-printed-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const seen = join(folder, 'seen');
    // The last line is not complete.
    const bar = String.raw`one\r\u001B[32m 2/9 \u001B[0mbuilding\n==0.0`;
    const running = run(
      node(`process.stderr.write('${bar}');
        const timer = setInterval(() => { if (require('fs').existsSync('${seen}')) clearInterval(timer); }, 20);`),
    );
    await vi.waitFor(() => expect(lastPrinted()).toBe('2/9 building'), { timeout: 10_000 });
    writeFileSync(seen, '');
    await running;
    expect(lastPrinted()).toBeUndefined();
  });

  it('keeps both outputs of a program that fails, and its status', async () => {
    const error = await failureOf(run(node("console.log('a'); console.error('b'); process.exitCode = 3")));
    expect(error).toMatchObject({ why: 'failed', status: 3, stdout: 'a\n', stderr: 'b\n' });
    expect(error.message).toBe(`${process.execPath} failed with exit status 3`);
  });

  it('distinguishes a program that is missing, one that cannot be executed and a missing folder', async () => {
    const missing = await failureOf(run(['no-such-program', '--version']));
    expect(missing).toMatchObject({ why: 'missing', message: 'no-such-program was not found', stderr: '' });
    const folder = await failureOf(run(['/', 'x']));
    expect(folder).toMatchObject({ why: 'not-executable', message: '/ cannot be executed', stderr: '' });
    const nowhere = await failureOf(run(['true'], { cwd: '/no/such/folder' }));
    expect(nowhere.why).toBe('not-started');
  });

  it('names the signal that ended a program', async () => {
    const error = await failureOf(run(node("process.kill(process.pid, 'SIGKILL')")));
    expect(error).toMatchObject({ why: 'killed', status: null });
    expect(error.message).toBe(`${process.execPath} was ended by SIGKILL`);
  });

  it.each([
    ['waits for it', 'sleep 600 & echo $!; wait'],
    ['has ended', 'sleep 600 & echo $!'],
  ])('ends at its time limit if a child of the program keeps the output open, and it %s', async (_, line) => {
    const error = await failureOf(run(['sh', '-c', line], { timeoutMs: 100 }));
    process.kill(Number(error.stdout), 'SIGKILL');
    expect(error).toMatchObject({ why: 'timeout', message: 'sh did not end within 0.1 s' });
  });

  it('kills a program that ignores SIGTERM at its time limit', async () => {
    const deaf = "process.on('SIGTERM', () => {}); setInterval(() => {}, 1000); console.log(process.pid)";
    const error = await failureOf(run(node(deaf), { timeoutMs: 1000 }));
    expect(error.why).toBe('timeout');
    expect(() => process.kill(Number(error.stdout), 0)).toThrow('ESRCH');
  });
});

describe('stopPrograms', () => {
  it('ends a program and what it has started', async () => {
    const failure = failureOf(run(['sh', '-c', 'sh -c "echo ready; sleep 600; true"; true']));
    await vi.waitFor(() => expect(lastPrinted()).toBe('ready'));
    stopPrograms();
    // The output stays open until all of them have ended.
    expect(await failure).toMatchObject({ why: 'killed' });
  });
});

describe('runSync', () => {
  it('returns what a program prints, and throws if it fails', () => {
    expect(runSync(['echo', 'a b'])).toEqual({ stdout: 'a b\n', stderr: '' });
    expect(() => runSync(['sh', '-c', 'exit 4'])).toThrow('sh failed with exit status 4');
    expect(() => runSync(['no-such-program'])).toThrow('no-such-program was not found');
  });
});

describe('start', () => {
  it('starts the program itself, at the head of a process group, with pipes', async () => {
    const program = 'process.stdin.pipe(process.stdout); console.error(process.pid)';
    const child = start({ stdio: 'pipe' })`exec ${node(program)}`;
    const [pid] = (await once(child.stderr!, 'data')) as [Buffer];
    expect(Number(pid)).toBe(child.pid);
    child.stdin!.end('hello');
    const [said] = (await once(child.stdout!, 'data')) as [Buffer];
    expect(String(said)).toBe('hello');
    if (child.exitCode === null) await once(child, 'exit');
    expect(child.exitCode).toBe(0);
  });

  it('runs no start-up file of a shell, also if no shell has started Bench', async () => {
    const home = mkdtempSync(join(tmpdir(), 'bench-home-'));
    onTestFinished(() => rmSync(home, { recursive: true }));
    writeFileSync(join(home, '.bashrc'), 'echo from .bashrc\n');
    const env = { PATH: process.env['PATH'], HOME: home };
    const child = start({ stdio: 'pipe', env })`exec cat`;
    child.stdin!.end('hello');
    expect(await text(child.stdout!)).toBe('hello');
  });

  it('runs no code of Bash before a program, nor in its place', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'bench-shell-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const script = join(folder, 'script.sh');
    const mark = join(folder, 'ran');
    writeFileSync(script, `echo ran >> ${mark}\n`);
    const exec = `() { echo exec >> ${mark}; command exec "$@"; }`;
    const env = { ...process.env, BASH_ENV: script, SHELLOPTS: 'noglob:xtrace', 'BASH_FUNC_exec%%': exec };
    // A script of the user is a program of Bash, too.
    const words = ['bash', '-c', 'echo "$BASH_ENV" "$ENV"'];
    expect(await run(words, { env: { ...env, ENV: 'production' } })).toEqual({
      stdout: ' production\n',
      stderr: '',
    });
    const child = start({ stdio: ['ignore', 'pipe', 'ignore'], env })`exec ${words}`;
    await text(child.stdout!);
    expect(existsSync(mark)).toBe(false);
  });

  it('starts a group that one signal ends', async () => {
    const child = start({ stdio: ['ignore', 'pipe', 'ignore'] })`exec sh -c ${'sleep 600 & echo $!; wait'}`;
    await once(child.stdout!, 'data');
    process.kill(-child.pid!, 'SIGKILL');
    // The pipe closes when the last process of the group has ended.
    await once(child, 'close');
    expect(child.signalCode).toBe('SIGKILL');
  });

  it('starts a program that a Ctrl-C does not reach, also if it arrives at once', async () => {
    const program = `
      import { once } from 'node:events';
      import { setImmediate as turn } from 'node:timers/promises';
      import { hasEnded, start } from ${JSON.stringify(new URL('../src/subprocess.ts', import.meta.url).href)};
      process.on('SIGINT', () => {});
      process.stdin.resume();
      console.log('ready');
      await once(process, 'SIGINT');
      const children = Array.from({ length: 20 }, () => start({ stdio: 'ignore' })\`exec sleep 60\`);
      await turn();
      await turn();
      const ended = children.filter(hasEnded).length;
      for (const child of children) child.kill('SIGKILL');
      console.log(ended);
    `;
    const argv = [process.execPath, '--input-type=module', '-e', program];
    const child = start({ stdio: ['pipe', 'pipe', 'inherit'] })`exec ${argv}`;
    const lines = createInterface(child.stdout!)[Symbol.asyncIterator]();
    expect((await lines.next()).value).toBe('ready');
    // A program that it starts is in its group at first.
    const pressing = setInterval(() => process.kill(-child.pid!, 'SIGINT'), 2);
    const { value } = await lines.next();
    clearInterval(pressing);
    child.kill('SIGKILL');
    expect(value).toBe('0');
  });
});
