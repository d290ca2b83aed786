/** The questions of three users, from an empty folder with the packed tarball: an upgrade, a branch and a budget. */
import { randomUUID } from 'node:crypto';
import { cpSync, globSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { HOME } from 'bench-machine/home';
import { environHas, listPids } from 'bench-machine/procfs';
import { runSync, SubprocessError } from 'bench-machine/subprocess';
import { newToken } from 'bench-machine/scratch';
import { unreachedError } from 'bench-targets/prepare/unreached';
import { provideUv } from 'bench-targets/prepare/uv';
import type { Trial } from 'bench-model/record';
import { findDatabase } from '../../src/services/database/database.ts';
import { needs, postgres, tool } from '../../../bench-lab/testing/needs.ts';
import { Installed } from '../../../bench-lab/testing/packed.ts';
import { git, type Ended } from '../../../bench-lab/testing/user.ts';

const EXAMPLES = '../../../bench-lab/examples';
const MINUTES = 60_000;
/** As little load as possible: the figures are not what is tested. */
const SHORT = { connections: [2], amount: 40, warmup: 0 };

let installed: Installed;
beforeAll(async () => {
  installed = await Installed.create();
});
afterAll(() => installed[Symbol.dispose]());

class Project {
  readonly folder: string;
  /** Is in the environment of everything that a command starts. */
  readonly #mark = randomUUID();
  output = '';

  /** Copies a service of this folder, or of the examples of the documents. */
  constructor(from: string) {
    const original = fileURLToPath(new URL(from, import.meta.url));
    this.folder = installed.makeProject(basename(from));
    cpSync(original, this.folder, { recursive: true, filter: (file) => basename(file) !== 'change' });
    git(this.folder, 'init', '--quiet', '--initial-branch=main');
  }

  commit(subject: string): void {
    git(this.folder, 'add', '.');
    git(this.folder, 'commit', '--quiet', '--message', subject);
  }

  replace(file: string, before: string, after: string): void {
    const path = join(this.folder, file);
    const text = readFileSync(path, 'utf8');
    if (!text.includes(before)) throw new Error(`${file} does not contain ${before}`);
    writeFileSync(path, text.replace(before, after));
  }

  branch(subject: string, file: string, before: string, after: string): void {
    git(this.folder, 'switch', '--quiet', '--create', 'branch');
    this.replace(file, before, after);
    this.commit(subject);
  }

  write(file: string, content: object): void {
    writeFileSync(join(this.folder, file), JSON.stringify(content));
  }

  /** Makes the lock with the tool of the project. Throws a toolchain error if it cannot reach its registry. */
  lock(argv: string[]): void {
    try {
      runSync(argv, { cwd: this.folder });
    } catch (error) {
      if (!(error instanceof SubprocessError)) throw error;
      throw unreachedError(basename(argv[0] ?? ''), error.stderr, {}) ?? error;
    }
  }

  /** Runs a command. Everything that it started must have ended with it. */
  run(args: string[], env: NodeJS.ProcessEnv = {}): Ended {
    const ended = installed.run(this.folder, args, {
      // The packages that the tools of the user have fetched before are not fetched again.
      HOME: homedir(),
      XDG_CACHE_HOME: process.env['XDG_CACHE_HOME'],
      BENCH_CACHE: join(installed.folder, 'cache'),
      BENCH_TEST: this.#mark,
      ...env,
    });
    this.output += ended.stdout + ended.stderr;
    const left = listPids().filter((pid) => environHas(pid, 'BENCH_TEST', this.#mark));
    if (left.length > 0) throw new Error(`bench-http ${args.join(' ')} left ${left.join(', ')} running`);
    return ended;
  }

  trials(): Trial[] {
    const results = join(this.folder, '.bench', 'results');
    const newest = readdirSync(results).toSorted().at(-1) ?? '';
    const lines = readFileSync(join(results, newest, 'trials.jsonl'), 'utf8')
      .trimEnd()
      .split('\n');
    return lines.map((line) => JSON.parse(line) as Trial);
  }
}

const optionsOf = (options: Record<string, unknown>): string[] =>
  Object.entries(options).flatMap(([name, value]) => [`--${name}`, String(value)]);

const listEnvironments = (): string[] =>
  globSync('environments/fastapi-orders-3.1*/bench-ready', { cwd: HOME.cache });

describe('a FastAPI service', () => {
  const found = needs(postgres);
  // Its environments are made once for each lock, and not in every run of this test.
  const env: Record<string, string> = { BENCH_CACHE: HOME.cache };
  const made = needs(async () => {
    const uv = await provideUv(HOME.cache);
    const project = new Project('fastapi-orders');
    project.lock([uv, 'lock', '--quiet']);
    project.commit('An order service');
    return project;
  });
  const folder = mkdtempSync(join(tmpdir(), 'bench-orders-'));
  let database: AsyncDisposable | undefined;
  /** Must not be stored or shown. */
  let secrets: () => string[];
  beforeAll(async () => {
    if (found.why !== undefined || made.why !== undefined) return;
    const started = await (await findDatabase('')).start({ token: newToken(), folder, placed: {} });
    database = started;
    const url = new URL(started.url);
    const tokens = join(folder, 'tokens');
    Object.assign(env, {
      ORDERS_PASSWORD: 'open-sesame-27',
      DATABASE_URL: url.href.replace('postgresql:', 'postgresql+psycopg:'),
      LOGINS: tokens,
    });
    secrets = () => [
      'open-sesame-27',
      url.password,
      url.href.slice('postgresql:'.length),
      ...readFileSync(tokens, 'utf8').trimEnd().split('\n'),
    ];
  });
  afterAll(async () => {
    await database?.[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true });
  });

  it('is measured on two Pythons, and on two commits in a job', { timeout: 5 * MINUTES }, () => {
    const project = made.get();
    const run = (args: string[]): Ended => project.run(args, env);

    project.write('stack.json', {
      name: 'fastapi-orders',
      language: 'python',
      framework: 'fastapi',
      class: 'framework',
      runtime: 'python',
      default: 'app',
      variants: { app: { command: ['uvicorn', 'orders:app', '--host', '{host}', '--port', '{port}'] } },
      login: {
        request: 'POST /login',
        body: { user: 'ada', password: '{env:ORDERS_PASSWORD}' },
        token: { json: '/access_token' },
      },
      requests: ['GET /orders?limit=20'],
    });
    project.commit('Measure it');

    const short = optionsOf({ ...SHORT, rounds: 1 });
    expect(run(['--python', '3.12,3.13', ...short])).toMatchObject({ status: 0 });
    const versions = project.trials().map(({ target, runtime }) => `${target.id} ${runtime?.version}`);
    expect(versions.toSorted()).toEqual([
      expect.stringMatching(/^fastapi-orders@3\.12 3\.12\./),
      expect.stringMatching(/^fastapi-orders@3\.13 3\.13\./),
    ]);

    const environments = listEnvironments();
    project.branch(
      'Log every login',
      'orders.py',
      '    return {"access_token": token}',
      [
        '    print("database", engine.url.render_as_string(hide_password=False), flush=True)',
        '    print("login", login.password, "token", token, flush=True)',
        '    with open(os.environ["LOGINS"], "a") as tokens:',
        '        print(token, file=tokens)',
        '    return {"access_token": token}',
      ].join('\n'),
    );
    project.write('bench.config.json', {
      bench: { ...SHORT, targets: ['main', 'HEAD'], rounds: 1 },
      budgets: [{ metric: 'startup', atMost: '1ms' }],
    });
    const job = run(['ci']);
    expect(project.trials().map(({ status }) => status)).not.toContain('failed');
    expect(project.trials()).toHaveLength(2);
    // The commits have the same lock.
    expect(listEnvironments()).toEqual(environments);
    const summary = readFileSync(join(project.folder, '.bench', 'summary.md'), 'utf8');
    expect(summary).toMatch(/main \w{7}: Measure it/);
    expect(summary).toMatch(/HEAD \w{7}: Log every login/);
    // One round says nothing, and a job does not fail for that.
    for (const name of ['main', 'HEAD'])
      expect(job.stderr).toMatch(
        new RegExp(String.raw`start-up at most 1.00 ms, fastapi-orders\[${name} \w{7}\] at 2 .*undecided`),
      );
    expect(job.status).toBe(0);

    const logs = globSync('.bench/results/*/logs/*.log', { cwd: project.folder });
    const logged = logs.map((log) => readFileSync(join(project.folder, log), 'utf8')).join('\n');
    expect(logged).toMatch(/^login \(not kept\) token \(not kept\)$/m);
    expect(logged).toMatch(/^database postgresql\+psycopg:\/\/\(not-kept\)@/m);
    expect(secrets().length).toBeGreaterThan(3);
    const kept = [join(project.folder, '.bench'), join(installed.folder, 'state')].flatMap((place) =>
      globSync('**/*', { cwd: place, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map(({ parentPath, name }) => readFileSync(join(parentPath, name), 'utf8')),
    );
    expect(kept.length).toBeGreaterThan(10);
    const texts = [...kept, project.output, readFileSync(join(project.folder, 'stack.json'), 'utf8')];
    for (const secret of secrets()) {
      expect(texts.filter((text) => text.includes(secret))).toEqual([]);
    }
  });
});

describe('an Express service', () => {
  const made = needs(async () => {
    await tool('npm')();
    const project = new Project(`${EXAMPLES}/express`);
    project.lock(['npm', 'install', '--package-lock-only', '--no-audit']);
    project.commit('The service');
    return project;
  });

  it('is measured with its uncommitted changes', { timeout: 5 * MINUTES }, () => {
    const project = made.get();
    project.replace('server.js', 'response.json(items', 'response.json(structuredClone(items)');
    const app = ['--run', 'npm start', '--get', '/items?limit=5'];
    const ended = project.run([...app, 'HEAD', '.', ...optionsOf({ ...SHORT, rounds: 1 })]);
    expect(ended.status).toBe(0);
    expect(ended.stdout).toMatch(/HEAD \w{7}: The service; working tree/);
    const codes = project.trials().map(({ status }) => status);
    expect(codes).toHaveLength(2);
    expect(codes).not.toContain('failed');
  });
});
