/** The ways that a Dockerfile, a compose file and a Procfile name: what runs in production. Their scripts are never read. */
import { dirname, join, relative } from 'node:path';
import { DockerfileParser, type Env, type Instruction } from 'dockerfile-ast';
import { parse } from 'yaml';
import { filesIn, hasManifest, readText } from '../files.ts';
import { partOf } from '../manifests.ts';
import { stepsOf } from './line.ts';
import type { Told } from './way.ts';

/** Images of development, of workers and of databases start another program. */
const OTHER_IMAGE = /packaging|dev|test|local|debug|worker|celery|cron|frontend|nginx|\bdb\b|ci\b/i;
/** Variables that describe the image and not the server. */
const OF_IMAGE =
  /^(PATH|HOME|HOST|HOSTNAME|PORT|LANG|LC_\w+|TZ|DEBIAN_FRONTEND|VIRTUAL_ENV|(PYTHON(?!PATH)|UV|PIP|POETRY|NPM|PNPM|YARN|NEXT_TELEMETRY|GO|CARGO)\w*)$/;

/** Returns what the images, compose files and Procfiles of a project tell, best first. */
export function toldByContainers(root: string): Told[] {
  const composed = servicesIn(root);
  const images = filesIn(root, '**/{Dockerfile,Dockerfile.*,*.Dockerfile,Containerfile}')
    .filter((file) => !OTHER_IMAGE.test(file))
    .flatMap((file) => toldByImage(root, file, composed));
  return [...images, ...composed.filter(({ line }) => line.length > 0), ...toldByProcfile(root)];
}

function toldByProcfile(root: string): Told[] {
  const [, ...lines] = /^web:\s*(.+)$/m.exec(readText(root, 'Procfile')) ?? [];
  const [, release] = /^release:\s*(.+)$/m.exec(readText(root, 'Procfile')) ?? [];
  return lines.map((line) => {
    // What its server waits for is a setup too.
    const steps = [release ?? [], stepsOf(line).slice(0, -1)].flat();
    const before = steps.length === 0 ? undefined : ['sh', '-c', steps.join(' && ')];
    return { folder: '', why: 'Procfile: web', line, before, isForeign: true };
  });
}

/** Returns the commands that an image may start: its ENTRYPOINT with the CMD, or the CMD alone if the first only prepares the image. */
function toldByImage(root: string, file: string, composed: readonly Told[]): Told[] {
  let cmd: string[] = [];
  let entry: string[] = [];
  let workdir = '/';
  const env: Record<string, string> = {};
  for (const one of DockerfileParser.parse(readText(root, file)).getInstructions()) {
    const keyword = one.getKeyword();
    if (keyword === 'CMD') cmd = wordsOf(one);
    else if (keyword === 'ENTRYPOINT') entry = wordsOf(one);
    else if (keyword === 'WORKDIR') workdir = one.getArgumentsContent() ?? '/';
    else if (keyword === 'ENV')
      for (const variable of (one as Env).getProperties())
        env[variable.getName()] = variable.getValue() ?? '';
  }
  const own = dirname(file).replace(/^\.$/, '');
  const parts = workdir.split('/').filter((part) => part !== '');
  const inner = [...parts.map((_, index) => parts.slice(index).join('/')), own];
  const told = {
    folder: inner.find((path) => hasManifest(join(root, path))) ?? '',
    env: { ...plainVariables(env), ...composed.find(({ folder }) => folder === own)?.env },
    isForeign: true,
  };
  // The paths of the image are those of the project.
  const inProject = (words: string[]): string[] =>
    parts.length === 0 ? words : words.map((word) => word.replaceAll(`/${parts.join('/')}/`, ''));
  const both = { ...told, why: `${file}: ENTRYPOINT`, line: inProject([...entry, ...cmd]) };
  return [...(entry.length > 0 ? [both] : []), { ...told, why: `${file}: CMD`, line: inProject(cmd) }];
}

/** Reads both forms of a command: `["uvicorn", "app:app"]` and `uvicorn app:app`. */
function wordsOf(instruction: Instruction): string[] {
  const text = instruction.getArgumentsContent() ?? '';
  // The parser of Dockerfiles drops the blanks in the words of a list.
  const words = text.startsWith('[') ? readYaml(text) : undefined;
  return Array.isArray(words) ? words.map(String) : ['sh', '-c', text];
}

/** Returns the step of a project's images that names a file: its place, and its command; undefined if there is none. */
export function findImageStep(root: string, name: string): { place: string; command: string } | undefined {
  for (const file of filesIn(root, '**/*Dockerfile*')) {
    for (const one of DockerfileParser.parse(readText(root, file)).getInstructions()) {
      const steps = one.getKeyword() === 'RUN' ? (one.getArgumentsContent() ?? '').split('&&') : [];
      // It may be a script of the project that names the file.
      const names = (step: string): boolean =>
        step.includes(name) || step.split(/\s+/).some((word) => readText(root, word).includes(name));
      const command = steps.find(names)?.replaceAll(/\s+/g, ' ');
      if (command === undefined) continue;
      return { place: `line ${one.getRange().start.line + 1} of ${file}`, command: command.trim() };
    }
  }
  return undefined;
}

/** Returns the services of compose files that are built from the project, also those without a command of their own. */
function servicesIn(root: string): Told[] {
  return filesIn(root, '**/{docker-,}compose{,.prod,.production}.{yml,yaml}').flatMap((file) =>
    Object.entries(partOf(partOf(readYaml(readText(root, file)))['services'])).flatMap(
      ([name, one]): Told[] => {
        const { build, command, environment } = partOf(one);
        if (build === undefined || OTHER_IMAGE.test(name)) return [];
        const context = typeof build === 'string' ? build : partOf(build)['context'];
        const folder = relative(root, join(root, dirname(file), typeof context === 'string' ? context : '.'));
        return [
          {
            folder: folder.startsWith('..') ? '' : folder,
            why: `${file}: the command of ${name}`,
            line: Array.isArray(command) ? command.map(String) : typeof command === 'string' ? command : [],
            env: plainVariables(environment),
            isForeign: true,
          },
        ];
      },
    ),
  );
}

function readYaml(text: string): unknown {
  try {
    return parse(text, { logLevel: 'silent', uniqueKeys: false, merge: true });
  } catch {
    return undefined;
  }
}

/** The variables that are plain values: others describe the image, name hosts of the compose file, or are secrets. */
function plainVariables(environment: unknown): Record<string, string> {
  const pairs = Array.isArray(environment)
    ? environment.map((one) => String(one).split(/=(.*)/s))
    : Object.entries(partOf(environment));
  return Object.fromEntries(
    pairs.flatMap(([name = '', value]) => {
      const text = ['string', 'number', 'boolean'].includes(typeof value) ? String(value) : '';
      const isKept =
        text !== '' && !OF_IMAGE.test(name) && !/[$@]|:\/\/|secret|password|token/i.test(`${name} ${text}`);
      return isKept ? [[name, text] as const] : [];
    }),
  );
}
