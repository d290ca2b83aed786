/** The ways to start the server of a project, read from its files. Changes no file. */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { RuntimeKind } from 'bench-model/target';
import { lineAt } from '../json-file.ts';
import { readCargoManifest, readNodeManifest } from './manifests.ts';
import { splitCommand } from './words.ts';

/** One way to start a server. */
export interface Start {
  command: string[];
  env: Record<string, string>;
  build: string[][];
  language: string;
  framework: string;
  runtime: RuntimeKind;
  /** The file and its evidence for this start. */
  why: string;
}

/** Folders that hold no server, or not that of the project. */
const SKIPPED =
  /^(\..+|node_modules|venv|__pycache__|target|vendor|dist|build|tests?|examples?|docs|migrations|alembic)$/;
/** Larger files are generated. */
const MOST_CHARS = 1_000_000;

/** Returns the ways to start the server of the project in `root`, best first. Throws a usage error for a broken package.json. */
export function findStarts(root: string): Start[] {
  const all = [...startsByName(root), ...startsOfPython(root), ...startsOfGo(root), ...startsOfRust(root)];
  const found = all.length > 0 ? all : startsOfNode(root);
  const byCommand = Map.groupBy(found, ({ command }) => JSON.stringify(command));
  return [...byCommand.values()].flatMap(([first]) => first ?? []);
}

/** Describes the start by a user's command line, with the language and framework that the project's files show. */
export function describeStart(root: string, line: string): Start {
  const [known] = findStarts(root);
  const start = describeLine(root, line, '--run');
  return known?.language === start.language ? { ...start, framework: known.framework } : start;
}

/** Describes the start by a command line; `why` is the place that has it. */
function describeLine(root: string, line: string, why: string): Start {
  // Only a shell fills in the port of the environment.
  const known = line.replaceAll(/"?\$(?:PORT\b|\{PORT(?::?-[^}]*)?\})"?/g, '{port}');
  const { words, env } = splitCommand(known, why);
  return { command: words, env, why, ...kindOf(root, words) };
}

type Kind = Pick<Start, 'language' | 'framework' | 'runtime' | 'build'>;

function kindOf(root: string, words: readonly string[]): Kind {
  const [program = ''] = words;
  const isNode = /^(node|npm|npx|pnpm|yarn|tsx|bun)$/.test(basename(program));
  const isPython = textOfPython(root) !== '';
  if (isNode || (existsSync(join(root, 'package.json')) && !isPython))
    return {
      language: 'javascript',
      framework: frameworkOfNode(root),
      runtime: 'node',
      build: buildsOfNode(root, words),
    };
  const kind =
    program.includes('/') || !isPython
      ? ({ language: 'unknown', runtime: 'none' } as const)
      : ({ language: 'python', runtime: 'python' } as const);
  return { ...kind, framework: 'unknown', build: [] };
}

/** The starts that a Procfile and a package.json name. */
function startsByName(root: string): Start[] {
  const lines = {
    'Procfile: web': /^web:\s*(.+)$/m.exec(read(join(root, 'Procfile')))?.[1],
    'package.json: scripts.start': readNodeManifest(root).scripts?.['start'],
  };
  return Object.entries(lines).flatMap(([why, line]) =>
    line === undefined ? [] : [describeLine(root, line, why)],
  );
}

/** The folders into which the build scripts of Node projects write. */
const BUILT = /^(?:\.\/)?(?:dist|build|out|lib)\//;

/** Returns the build of a Node project if a command starts what it writes. */
function buildsOfNode(root: string, [program = '', ...words]: readonly string[]): string[][] {
  const startsBuilt = words.some((word) => BUILT.test(word)) || (program === 'next' && words[0] === 'start');
  if (!startsBuilt || readNodeManifest(root).scripts?.['build'] === undefined) return [];
  const managers = { 'pnpm-lock.yaml': 'pnpm', 'yarn.lock': 'yarn' };
  const [, manager = 'npm'] = Object.entries(managers).find(([lock]) => existsSync(join(root, lock))) ?? [];
  return [[manager, 'run', 'build']];
}

/** Servers for Python apps, best first. */
const ASGI: [name: string, command: (app: string) => string[]][] = [
  ['uvicorn', (app) => ['uvicorn', app, '--host', '{host}', '--port', '{port}']],
  ['granian', (app) => ['granian', '--interface', 'asgi', '--host', '{host}', '--port', '{port}', app]],
  ['hypercorn', (app) => ['hypercorn', '--bind', '{host}:{port}', app]],
];
const WSGI: typeof ASGI = [
  ['gunicorn', (app) => ['gunicorn', '--bind', '{host}:{port}', app]],
  ['granian', (app) => ['granian', '--interface', 'wsgi', '--host', '{host}', '--port', '{port}', app]],
];
const SERVERS: Record<string, typeof ASGI> = { FastAPI: ASGI, Starlette: ASGI, Litestar: ASGI, Flask: WSGI };

function startsOfPython(root: string): Start[] {
  const listed = textOfPython(root);
  if (listed === '') return [];
  return filesIn(root, '**/*.py').flatMap((file): Start[] => {
    const text = read(join(root, file));
    const made = [
      ...text.matchAll(/^(\w+)\s*(?::[^=\n]+)?=\s*(?:\w+\.)?(FastAPI|Starlette|Litestar|Flask)\(/gm),
    ];
    return made.flatMap(({ 1: name = '', 2: framework = '', index }): Start[] => {
      const server = SERVERS[framework]?.find(([one]) => new RegExp(`\\b${one}\\b`, 'i').test(listed));
      // fastapi[standard] brings uvicorn.
      const chosen = server ?? (/fastapi\s*\[/i.test(listed) ? SERVERS[framework]?.[0] : undefined);
      if (chosen === undefined) return [];
      const module = file
        .replace(/(\/__init__)?\.py$/, '')
        .replace(/^src\//, '')
        .replaceAll('/', '.');
      return [
        {
          command: chosen[1](`${module}:${name}`),
          env: file.startsWith('src/') ? { PYTHONPATH: '{root}/src' } : {},
          build: [],
          language: 'python',
          framework: framework.toLowerCase(),
          runtime: 'python',
          why: `${file}:${lineAt(text, index)}: ${name} = ${framework}(…), and ${chosen[0]} among the dependencies`,
        },
      ];
    });
  });
}

/** Everything that lists the dependencies of a Python project. */
function textOfPython(root: string): string {
  const names = ['pyproject.toml', 'uv.lock', 'poetry.lock', ...globSync('requirements*.txt', { cwd: root })];
  return names
    .map((name) => read(join(root, name)))
    .join('\n')
    .trim();
}

function startsOfNode(root: string): Start[] {
  return filesIn(root, '**/*.{js,mjs,cjs,ts,mts}').flatMap((file): Start[] => {
    const text = read(join(root, file));
    const at = /process\.env(?:\.PORT\b|\[['"]PORT['"]\])/.exec(text);
    if (at === null || !/\.listen\(|\bserve\(/.test(text)) return [];
    return [
      {
        command: ['node', file],
        env: {},
        build: [],
        language: file.endsWith('ts') ? 'typescript' : 'javascript',
        framework: frameworkOfNode(root),
        runtime: 'node',
        why: `${file}:${lineAt(text, at.index)}: listens on process.env.PORT`,
      },
    ];
  });
}

function frameworkOfNode(root: string): string {
  const { dependencies = {} } = readNodeManifest(root);
  const known = ['fastify', 'express', 'koa', 'hono', '@nestjs/core', 'next'];
  return known.find((name) => dependencies[name] !== undefined) ?? 'unknown';
}

function startsOfGo(root: string): Start[] {
  const module = read(join(root, 'go.mod'));
  if (module === '') return [];
  const [, framework = 'net/http'] = /\/(chi|gin|fiber|echo)(?:\/v\d+)? v/.exec(module) ?? [];
  const mains = filesIn(root, '**/*.go').filter((file) => {
    const text = read(join(root, file));
    return /^package main$/m.test(text) && /^func main\(\)/m.test(text);
  });
  return mains.map((file) => ({
    command: ['{build}/server'],
    env: {},
    build: [['go', 'build', '-o', '{build}/server', `./${dirname(file) === '.' ? '' : dirname(file)}`]],
    language: 'go',
    framework,
    runtime: 'none' as const,
    why: `${file}: package main`,
  }));
}

function startsOfRust(root: string): Start[] {
  const { package: { name: own } = {}, bin = [], dependencies = {} } = readCargoManifest(root);
  const bins = bin.map(({ name }) => name);
  const names = bins.length > 0 || own === undefined || !existsSync(join(root, 'src/main.rs')) ? bins : [own];
  const known = ['axum', 'actix-web', 'rocket', 'warp', 'poem'];
  const framework = known.find((name) => dependencies[name] !== undefined) ?? 'unknown';
  // Without --locked, cargo would write into the project.
  const build = ['cargo', 'build', '--release', '--locked', '--target-dir', '{build}'];
  return names.map((name) => ({
    command: [`{build}/release/${name}`],
    env: {},
    build: [[...build, '--bin', name]],
    language: 'rust',
    framework,
    runtime: 'none' as const,
    why: `Cargo.toml: the binary ${name}`,
  }));
}

function depth(file: string): number {
  return file.split('/').length;
}

/** Returns files of a project, those nearest to its root first. */
function filesIn(root: string, pattern: string): string[] {
  return globSync(pattern, { cwd: root, exclude: (name) => SKIPPED.test(basename(name)) })
    .filter((file) => !/(^|\/)(test_|conftest)|[._](test|spec)\.\w+$|_test\.go$/.test(file))
    .toSorted((a, b) => depth(a) - depth(b) || a.localeCompare(b));
}

function read(file: string): string {
  try {
    const text = readFileSync(file, 'utf8');
    return text.length > MOST_CHARS && !file.endsWith('.lock') ? '' : text;
  } catch {
    return '';
  }
}
