/** The ways that a Dockerfile, a compose file and a Procfile name: what runs in production. Their scripts are never read. */
import { dirname, join, relative } from 'node:path';
import { orUndefined } from 'bench-model/errors';
import { DockerfileParser, type Instruction } from 'dockerfile-ast';
import { parse } from 'yaml';
import { filesIn, hasManifest, readText } from '../files.ts';
import { partOf } from '../../json-file.ts';
import { inShell, stepsOf } from '../../projects/line.ts';
import type { Told } from './way.ts';

/** Images of development, of workers and of databases start another program. */
const OTHER_IMAGE = /packaging|dev|test|local|debug|worker|celery|cron|frontend|nginx|\bdb\b|ci\b/i;

/** Returns what the images, compose files and Procfiles of a project tell, best first. */
export function toldByContainers(root: string): Told[] {
  const composed = toldByCompose(root);
  const images = filesIn(root, '**/{Dockerfile,Dockerfile.*,*.Dockerfile,Containerfile}')
    .filter((file) => !OTHER_IMAGE.test(file))
    .flatMap((file) => toldByImage(root, file, composed));
  const all = [...images, ...composed, ...toldByProcfile(readText(root, 'Procfile'))];
  return all.filter(({ words }) => words.length > 0).map((one) => ({ ...one, isForeign: true }));
}

function toldByProcfile(text: string): Told[] {
  const [, web] = /^web:\s*(.+)$/m.exec(text) ?? [];
  const [, release] = /^release:\s*(.+)$/m.exec(text) ?? [];
  if (web === undefined) return [];
  // What its server waits for is a setup too.
  const steps = [release ?? [], stepsOf(web).slice(0, -1)].flat();
  const setup = steps.length === 0 ? undefined : inShell(steps.join(' && '));
  return [{ why: 'Procfile: web', words: inShell(web), setup }];
}

/** Returns the commands that an image may start: its ENTRYPOINT with the CMD, or the CMD alone if the first only prepares the image. */
function toldByImage(root: string, file: string, composed: readonly Told[]): Told[] {
  const image = DockerfileParser.parse(readText(root, file));
  const own = dirname(file).replace(/^\.$/, '');
  const workdir = image.getInstructions().findLast((one) => one.getKeyword() === 'WORKDIR');
  const parts = (workdir?.getArgumentsContent() ?? '').split('/').filter((part) => part !== '');
  const inner = [...parts.map((_, index) => parts.slice(index).join('/')), own];
  const variables = image.getENVs().flatMap((one) => one.getProperties());
  const env = Object.fromEntries(variables.map((one) => [one.getName(), one.getValue() ?? '']));
  const told = {
    folder: inner.find((path) => hasManifest(join(root, path))) ?? '',
    env: { ...plainVariables(env), ...composed.find(({ folder }) => folder === own)?.env },
  };
  const [entry = [], cmd = []] = [image.getENTRYPOINTs(), image.getCMDs()].map((all) =>
    // The paths of the image are those of the project.
    wordsOf(all.at(-1)).map((word) =>
      parts.length === 0 ? word : word.replaceAll(`/${parts.join('/')}/`, ''),
    ),
  );
  const both = { ...told, why: `${file}: ENTRYPOINT`, words: [...entry, ...cmd] };
  return [...(entry.length > 0 ? [both] : []), { ...told, why: `${file}: CMD`, words: cmd }];
}

/** Reads both forms of a command: `["uvicorn", "app:app"]` and `uvicorn app:app`. */
function wordsOf(instruction: Instruction | undefined): string[] {
  const text = instruction?.getArgumentsContent() ?? undefined;
  // The parser of Dockerfiles drops the blanks in the words of a list.
  return toWords(text?.startsWith('[') === true ? readYaml(text) : text);
}

function toWords(command: unknown): string[] {
  if (Array.isArray(command)) return command.map(String);
  return typeof command === 'string' ? inShell(command) : [];
}

/** Returns the step of a project's images that names a file: its place, and its command; undefined if there is none. */
export function findImageStep(root: string, name: string): { place: string; command: string } | undefined {
  // It may be a script of the project that names the file.
  const names = (step: string): boolean =>
    step.includes(name) || step.split(/\s+/).some((word) => readText(root, word).includes(name));
  for (const file of filesIn(root, '**/*Dockerfile*')) {
    for (const one of DockerfileParser.parse(readText(root, file)).getInstructions()) {
      const steps = one.getKeyword() === 'RUN' ? (one.getArgumentsContent() ?? '').split('&&') : [];
      const command = steps.find(names)?.replaceAll(/\s+/g, ' ');
      if (command === undefined) continue;
      return { place: `line ${one.getRange().start.line + 1} of ${file}`, command: command.trim() };
    }
  }
  return undefined;
}

/** Returns the services of compose files that are built from the project, also those without a command of their own. */
function toldByCompose(root: string): Told[] {
  return filesIn(root, '**/{docker-,}compose{,.prod,.production}.{yml,yaml}').flatMap((file) => {
    const { services } = partOf(readYaml(readText(root, file)));
    return Object.entries(partOf(services)).flatMap(([name, one]): Told[] => {
      const { build, command, environment } = partOf(one);
      if (build === undefined || OTHER_IMAGE.test(name)) return [];
      const { context = build } = partOf(build);
      const folder = relative(root, join(root, dirname(file), typeof context === 'string' ? context : '.'));
      return [
        {
          folder: folder.startsWith('..') ? '' : folder,
          why: `${file}: the command of ${name}`,
          words: toWords(command),
          env: plainVariables(environment),
        },
      ];
    });
  });
}

function readYaml(text: string): unknown {
  return orUndefined((): unknown => parse(text, { logLevel: 'silent', uniqueKeys: false, merge: true }));
}

/** Variables that describe the image and not the server, and texts that name hosts of the compose file or are secrets. */
const OF_IMAGE =
  /^(PATH|HOME|HOST|HOSTNAME|PORT|LANG|LC_\w+|TZ|DEBIAN_FRONTEND|VIRTUAL_ENV|(PYTHON(?!PATH)|UV|PIP|POETRY|NPM|PNPM|YARN|NEXT_TELEMETRY|GO|CARGO)\w*)$/;
const NOT_PLAIN = /[$@]|:\/\/|secret|password|token/i;

function plainVariables(environment: unknown): Record<string, string> {
  const pairs = Array.isArray(environment)
    ? environment.map((one) => String(one).split(/=(.*)/s))
    : Object.entries(partOf(environment));
  const texts = pairs.flatMap(([name = '', value]) =>
    ['string', 'number', 'boolean'].includes(typeof value) ? [[name, String(value)] as const] : [],
  );
  return Object.fromEntries(
    texts.filter(([name, text]) => text !== '' && !OF_IMAGE.test(name) && !NOT_PLAIN.test(`${name} ${text}`)),
  );
}
