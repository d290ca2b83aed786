/** The starts that a Dockerfile, a compose file and a Procfile name: what runs in production. */
import { basename, dirname, join, posix, relative } from 'node:path';
import { parse } from 'yaml';
import { fit, type Shape } from '../manifests.ts';
import { languageOfProgram } from '../project.ts';
import { filesIn, hasManifest, readText } from './files.ts';
import type { Told } from './start.ts';

/** Images of development, of workers and of databases start another program. */
const OTHER_IMAGE = /packaging|dev|test|local|debug|worker|celery|cron|frontend|nginx|\bdb\b|ci\b/i;
/** Variables that describe the image and not the server. */
const OF_IMAGE =
  /^(PATH|HOME|HOST|HOSTNAME|PORT|LANG|LC_\w+|TZ|DEBIAN_FRONTEND|VIRTUAL_ENV|(PYTHON(?!PATH)|UV|PIP|POETRY|NPM|PNPM|YARN|NEXT_TELEMETRY|GO|CARGO)\w*)$/;

/** Returns what the images, compose files and Procfiles of a project tell, best first. */
export function toldByContainers(root: string): Told[] {
  const composed = servicesIn(root);
  return [...toldByImages(root, composed), ...toldByCompose(composed), ...toldByProcfile(root)];
}

function toldByImages(root: string, composed: readonly Composed[]): Told[] {
  const files = filesIn(root, '{,*/,*/*/,*/*/*/}{Dockerfile,Dockerfile.*,*.Dockerfile,Containerfile}');
  return files
    .filter((file) => !OTHER_IMAGE.test(file))
    .map((file): Told => {
      const image = readImage(readText(root, file));
      const service = composed.find(({ folder }) => folder === dirname(file).replace(/^\.$/, ''));
      return {
        place: 'container',
        folder: folderOf(root, file, image.workdir),
        why: `${file}: ${image.by}`,
        line: image.command,
        env: { ...image.env, ...service?.env },
        packages: image.packages,
        copied: image.copied,
      };
    });
}

/** An image: what it starts, and where. */
interface Image {
  command: string | string[];
  /** The instruction that names the command. */
  by: string;
  env: Record<string, string>;
  workdir: string;
  packages: string[];
  copied: [to: string, from: string][];
}

/** A stage before its first instruction. */
const BLANK: Stage = { env: {}, workdir: '/', packages: [], copied: [] };

/** Reads the last stage of a Dockerfile, with what it takes over from earlier ones. */
function readImage(text: string): Image {
  const lines = text
    .replaceAll(/^[ \t]*#.*\n/gm, '')
    .replaceAll(/\\\s*\n/g, ' ')
    .split('\n');
  const args: Record<string, string> = {};
  const stages = new Map<string, Stage>();
  let stage: Stage = { ...BLANK, env: {} };
  for (const line of lines) {
    const [, word = '', rest = ''] = /^[ \t]*([A-Za-z]+)\s+(.*?)\s*$/.exec(line) ?? [];
    switch (word.toUpperCase()) {
      case 'FROM': {
        const [, base = '', name = ''] = /^(?:--\S+\s+)*(\S+)(?:\s+as\s+(\S+))?/i.exec(rest) ?? [];
        const earlier = stages.get(base.toLowerCase());
        stage = { ...(earlier ?? BLANK), env: { ...earlier?.env } };
        if (name !== '') stages.set(name.toLowerCase(), stage);
        break;
      }
      case 'ARG':
        Object.assign(args, Object.fromEntries(readVariables(rest)));
        break;
      case 'ENV':
        for (const [name, given] of readVariables(rest)) {
          const value = given.replaceAll(/\$\{?(\w+)\}?/g, (whole, one: string) => args[one] ?? whole);
          if (!OF_IMAGE.test(name) && !value.includes('$')) stage.env[name] = value;
        }
        break;
      case 'WORKDIR':
        stage.workdir = posix.resolve(stage.workdir, rest.replaceAll('"', ''));
        break;
      case 'COPY':
      case 'ADD':
        stage.copied = [...stage.copied, ...readCopies(rest)];
        break;
      case 'RUN':
        stage.packages = [...stage.packages, ...packagesIn(rest)];
        break;
      case 'CMD':
        stage.cmd = readCommand(rest);
        break;
      case 'ENTRYPOINT':
        stage.entrypoint = readCommand(rest);
        break;
      default:
    }
  }
  const { cmd = [], entrypoint, env, workdir, packages, copied } = stage;
  const image = { env, workdir, packages, copied };
  if (entrypoint === undefined) return { ...image, command: cmd, by: 'CMD' };
  if (!Array.isArray(entrypoint)) return { ...image, command: entrypoint, by: 'ENTRYPOINT' };
  // Such an entry point gets the command as its arguments, and that of a shell as those of the shell.
  const given = typeof cmd === 'string' ? ['/bin/sh', '-c', cmd] : cmd;
  const isPrepared =
    entrypoint.some((word) => SOURCE.test(word)) && languageOfProgram(given[0] ?? '') !== undefined;
  return isPrepared
    ? { ...image, command: given, by: 'CMD' }
    : { ...image, command: [...entrypoint, ...given], by: 'ENTRYPOINT' };
}

/** A program of the project that prepares the container, if the command after it names a server. */
const SOURCE = /\.(?:py|[cm]?[jt]s|rb|pl|php)$/;

interface Stage extends Omit<Image, 'command' | 'by'> {
  cmd?: string | string[];
  entrypoint?: string | string[];
}

/** Reads both forms of a command: `["uvicorn", "app:app"]` and `uvicorn app:app`. */
function readCommand(rest: string): string | string[] {
  if (!rest.startsWith('[')) return rest;
  try {
    return (fit(JSON.parse(rest), ['string']) ?? []) as string[];
  } catch {
    return rest;
  }
}

function readVariables(rest: string): [string, string][] {
  const pairs = [...rest.matchAll(/(\w+)=("(?:\\.|[^"])*"|'[^']*'|\S*)/g)];
  const [, name = '', value = ''] = /^(\w+)\s+(.*)$/.exec(rest) ?? [];
  const found =
    pairs.length > 0
      ? pairs.map(([, one = '', text = '']) => [one, text] as const)
      : [[name, value] as const];
  return found.filter(([one]) => one !== '').map(([one, text]) => [one, text.replaceAll(/^["']|["']$/g, '')]);
}

/** Returns the folders that an instruction copies from the project. */
function readCopies(rest: string): [to: string, from: string][] {
  if (rest.includes('--from=') || rest.startsWith('[')) return [];
  const words = rest.split(/\s+/).filter((word) => !word.startsWith('--'));
  const to = words.at(-1) ?? '';
  const from = words.slice(0, -1);
  return from.map((one) => [
    from.length > 1 || to.endsWith('/') ? posix.join(trim(to), statName(one)) : trim(to),
    trim(one),
  ]);
}

function trim(path: string): string {
  return path.replace(/^\.\//, '').replace(/\/$/, '') || '.';
}

/** A file keeps its name in a folder; a folder's content is copied. */
function statName(from: string): string {
  return /\.\w+$/.test(basename(from)) ? basename(from) : '.';
}

/** The packages that an image installs by name. */
function packagesIn(rest: string): string[] {
  return [...rest.matchAll(/\b(?:uv )?pip3? install ([^&|;]*)/g)].flatMap(([, words = '']) => {
    const names = words.trim().split(/\s+/);
    const hasValues = names.some((name) => /^(-r|-c|-e|--requirement|--target|-t)$/.test(name));
    return hasValues ? [] : names.filter((name) => /^[a-z][\w.-]*(\[[\w,]+\])?(==[\w.]+)?$/i.test(name));
  });
}

/** The folder of the project that an image starts in: one that ends like its working directory, or that of the file. */
function folderOf(root: string, file: string, workdir: string): string {
  const parts = workdir.split('/').filter((part) => part !== '');
  const inner = parts.map((_, index) => parts.slice(index).join('/'));
  const named = inner.find((path) => hasManifest(join(root, path)));
  if (named !== undefined) return named;
  const own = dirname(file) === '.' ? '' : dirname(file);
  return hasManifest(join(root, own)) ? own : '';
}

/** The parts of a compose file that tell a start. */
interface Compose {
  services?: Record<
    string,
    { build?: string | { context?: string }; command?: string | string[]; environment?: unknown }
  >;
}
const COMPOSE: Shape = {
  services: {
    '*': {
      build: (value) => fit(value, 'string') ?? fit(value, { context: 'string' }),
      command: (value) => fit(value, 'string') ?? fit(value, ['string']),
      environment: (value) => value,
    },
  },
};

function toldByCompose(composed: readonly Composed[]): Told[] {
  return composed.flatMap(({ folder, why, command, env }): Told[] =>
    command === undefined ? [] : [{ place: 'container', folder, why, line: command, env }],
  );
}

/** A service of a compose file that is built from the project. */
interface Composed {
  /** The folder that it is built in. */
  folder: string;
  why: string;
  command: string | string[] | undefined;
  env: Record<string, string>;
}

function servicesIn(root: string): Composed[] {
  const files = filesIn(root, '{,*/}{docker-,}compose{,.prod,.production}.{yml,yaml}');
  return files.flatMap((file) =>
    Object.entries(readCompose(readText(root, file)).services ?? {}).flatMap(
      ([name, service]): Composed[] => {
        const { build, command, environment } = service;
        if (build === undefined || OTHER_IMAGE.test(name)) return [];
        const context = typeof build === 'string' ? build : (build.context ?? '.');
        const folder = relative(root, join(root, dirname(file), context));
        return [
          {
            folder: folder.startsWith('..') ? '' : folder,
            why: `${file}: the command of ${name}`,
            command,
            env: variablesOf(environment),
          },
        ];
      },
    ),
  );
}

function readCompose(text: string): Compose {
  try {
    return fit(parse(text, { logLevel: 'silent', uniqueKeys: false }), COMPOSE) ?? {};
  } catch {
    return {};
  }
}

/** The variables of a service that are plain values: others name hosts of the compose file, or secrets. */
function variablesOf(environment: unknown): Record<string, string> {
  const pairs = Array.isArray(environment)
    ? environment.flatMap((one): [string, unknown][] => {
        const [, name = '', value = ''] = /^(\w+)=(.*)$/.exec(String(one)) ?? [];
        return name === '' ? [] : [[name, value]];
      })
    : Object.entries((environment ?? {}) as Record<string, unknown>);
  return Object.fromEntries(
    pairs.flatMap(([name, value]) => {
      const text = ['string', 'number', 'boolean'].includes(typeof value) ? (value as string) : '';
      return OF_IMAGE.test(name) || /[$@]|:\/\/|secret|password|token/i.test(`${name} ${text}`) || text === ''
        ? []
        : [[name, text] as const];
    }),
  );
}

function toldByProcfile(root: string): Told[] {
  const text = readText(root, 'Procfile');
  const line = /^web:\s*(.+)$/m.exec(text)?.[1];
  const release = /^release:\s*(.+)$/m.exec(text)?.[1];
  if (line === undefined) return [];
  return [
    {
      place: 'container',
      folder: '',
      why: 'Procfile: web',
      line,
      ...(release === undefined ? {} : { before: [release] }),
    },
  ];
}
