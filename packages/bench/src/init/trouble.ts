/** What went wrong in a try: one sentence, and the drafts that may do better. */
import { existsSync } from 'node:fs';
import { basename, isAbsolute, join } from 'node:path';
import { tryGit } from 'bench-machine/git';
import { BenchError } from 'bench-model/errors';
import { present } from 'bench-model/options';
import { KINDS, needOf, SERVICE_NAMES } from 'bench-targets/catalogue/apps/needs';
import { admittedBy } from 'bench-targets/catalogue/projects/pinned';
import { findExample, findMention, withPort } from 'bench-targets/catalogue/apps/variables';
import { buildOfNode, findImageStep } from 'bench-targets/catalogue/apps/ways';
import { joinWords } from 'bench-targets/catalogue/projects/words';
import { canMovePorts } from 'bench-targets/catalogue/ports';
import { pythonsSince } from 'bench-targets/catalogue/releases';
import { findHere } from 'bench-targets/prepare/projects/version';
import { CompanionError } from '../services/companion.ts';
import { SetupError } from '../services/declared/program.ts';
import { TryError } from './attempt.ts';
import type { Draft } from './draft.ts';

/** Another draft to try, and what is different in it. */
export interface Change {
  says: string;
  draft: Draft;
  /** True if it is applied without a question: it only says where the server listens. */
  isPlain?: boolean;
}

/** What a rule understands of an error. */
interface Understood {
  /** In one sentence. */
  text?: string | undefined;
  /** The option that may mend it, which only the user can complete or allow: `--env SHOP_KEY=`. */
  option?: string | undefined;
  /** What may mend it, the likeliest first: in words, and the part of the draft that changes. */
  parts?: [says: string, part: Partial<Draft>, isPlain?: true][];
}

/** A try that failed. */
export interface Trouble extends Pick<Understood, 'option'> {
  error: BenchError;
  text: string;
  changes: Change[];
}

/** What the rules look at. */
interface Failed extends Draft {
  /** The folder of the project that the server starts in. */
  place: string;
  /** The error, and all that the server printed last. */
  words: string;
  ports: readonly number[];
  code: BenchError['code'];
}

/** Returns what can be understood of an error. Throws the error if it says nothing about the server. */
export async function understand(thrown: unknown, draft: Draft, root: string): Promise<Trouble> {
  const error = thrown instanceof CompanionError ? thrown.explained('its last lines say why') : thrown;
  if (!(error instanceof BenchError) || ['interrupted', 'usage'].includes(error.code)) throw thrown;
  const seen = error instanceof TryError ? error.seen : { log: [], ports: [], hasStarted: false };
  const words = [error.message, ...seen.log].join('\n');
  const place = join(root, draft.way.folder);
  const failed = { ...draft, place, words, ports: seen.ports, code: error.code };
  const found: Understood[] = [];
  for (const { seen: pattern, isOfStart = false, read } of RULES) {
    const match = isOfStart && seen.hasStarted ? null : pattern.exec(words);
    if (match !== null) found.push(present((await read(failed, match)) ?? {}));
  }
  // The first rule that knows a part of it.
  const { text, option } = Object.assign({}, ...found.toReversed()) as Understood;
  const lines = text === undefined ? [error.message] : [error.message, text];
  const setup = thrown instanceof SetupError ? `${joinWords(draft.way.setup ?? [])}: ` : '';
  const hint = option === undefined ? error.hint : `try ${option}${option.endsWith('=') ? '…' : ''}`;
  return {
    option,
    error: new BenchError(error.code, lines.join('\n'), hint),
    text: text ?? setup + shorten(error.message),
    changes: found
      .flatMap(({ parts = [] }) => parts)
      .map(([says, part, isPlain = false]) => ({ says, draft: { ...draft, ...part }, isPlain })),
  };
}

/** The first line of an error, and the last line of the server's log if that says nothing. */
function shorten(message: string): string {
  const [first = '', ...rest] = message.split('\n');
  const last = rest.findLast((line) => line.startsWith('  | '));
  return /exit status \d+\)?$/.test(first) && last !== undefined ? `${first}: ${last.slice(4)}` : first;
}

/** A kind of trouble, by what a server or a tool says. */
interface Rule {
  seen: RegExp;
  /** True if it says nothing about a server that has answered. */
  isOfStart?: true;
  read: (failed: Failed, match: RegExpExecArray) => Understood | undefined | Promise<Understood | undefined>;
}

/** A service that a server cannot reach. */
const NO_SERVICE =
  /^(?=.*(?:ECONNREFUSED|connection refused|connect call failed|can't connect to|could not connect)).*\b(5432|3306|6379)\b/im;

/** What is understood, best first: the first rule that knows a part of it counts. */
const RULES: Rule[] = [
  // Django answers only to the hosts that its settings name.
  {
    seen: /DisallowedHost|Invalid HTTP_HOST|Bad Request \(400\)/,
    read: ({ headers }) => ({
      text: 'its ALLOWED_HOSTS do not name 127.0.0.1',
      option: '--env ALLOWED_HOSTS=',
      parts: [['with the header host: localhost', { headers: { ...headers, host: 'localhost' } }]],
    }),
  },
  {
    seen: /(?:no such file or directory|ENOENT|does not exist|cannot find(?: module)?|not found)[^'"`\n]*['"`]([^'"`\n]+)['"`]|open ([\w./-]+): no such file|node: (\S+): not found/i,
    read: missFile,
  },
  { seen: NO_SERVICE, read: missService },
  { seen: /^/, read: missVariable },
  { seen: /^/, isOfStart: true, read: listenElsewhere },
  // Servers that a host installs beside the project.
  {
    seen: /^(gunicorn|uvicorn|hypercorn|granian|daphne|waitress)(?:-serve)? is not in the environment/m,
    isOfStart: true,
    read: ({ packages = [] }, [, name = '']) => ({
      parts: [[`with the package ${name}`, { packages: [...packages, name] }]],
    }),
  },
  {
    seen: /No module named '(\w+)|Cannot find (?:package|module) '((?:@[\w-]+\/)?\w[\w.-]*)'/,
    isOfStart: true,
    read: (_, [, ofPython, module = ofPython]) => ({
      text: `it imports ${module}, which no list names`,
      option: `--with ${module}`,
    }),
  },
  // A program that prints how it is used may have a word for its server.
  {
    seen: /\busage\b(?:[^]*?\n)??\W*(?:[\w./-]+\s+)?(serve|server|start|run|web)\b/i,
    isOfStart: true,
    read({ way }, [, word = '']) {
      if (way.runtime !== 'none' || way.command.includes(word)) return undefined;
      const command = [...way.command, word];
      return {
        text: `it needs a word for what it does: ${word}`,
        parts: [[joinWords(command), { way: { ...way, command } }]],
      };
    },
  },
  { seen: /^/, read: ageBoth },
];

/** The last frame of a trace is in a package or in Python, a newer package lacks a name, or one is built for it. */
const OF_AGE = [
  /File "[^"]*(?:site-packages|\/lib\/python\d|<frozen)[^"]*", line \d+(?![^]*File ")/,
  /^\W*(?:ImportError: cannot import name|AttributeError: (?:module|type object)|ModuleNotFoundError: No module named '\w+\.)/m,
  /could not be built|failed to build|setup\.py/i,
];

/** It listens on other ports: a variable or an option may name them, or Bench moves it, or measures it there. */
function listenElsewhere({ way, place, port, ports }: Failed): Understood | undefined {
  // Those for TLS and for metrics are higher by custom.
  const [first, ...others] = ports.toSorted((a, b) => a - b);
  if (first === undefined || port !== undefined) return undefined;
  const named = withPort(way, place, first);
  if (named !== undefined) {
    const moved = others.reduce((one, other) => withPort(one, place, other, '0')?.way ?? one, named.way);
    return { parts: [[named.why, { way: moved }, true]] };
  }
  const says = `it listens on port ${first}, whatever PORT says`;
  const changes: Understood['parts'] = [
    [`${says}: Bench moves it`, { port: first, movesPort: true }, true],
    [`${says}: its targets are measured one at a time`, { port: first }, true],
  ];
  // Go binds without the C library.
  return { parts: way.language === 'go' || !canMovePorts() ? changes.slice(1) : changes };
}

/** A file is missing, or a folder: an example of it, a build or a step of the image may make it. */
function missFile({ way, place, words }: Failed, [, ...names]: RegExpExecArray): Understood | undefined {
  const path = names.find((one) => one !== undefined) ?? '';
  // Others than folders without a dot or a slash are packages.
  if (!/[./]/.test(path) && !/no such file|ENOENT/i.test(words)) return undefined;
  const name = basename(path);
  const example = name.startsWith('.env') ? findExample(place) : undefined;
  if (example !== undefined) {
    const setup = ['cp', example, name];
    return { parts: [[`${joinWords(setup)} before each start`, { way: { ...way, setup } }]] };
  }
  const build = way.runtime === 'node' && way.build.length === 0 ? buildOfNode(place) : [];
  if (build.length > 0)
    return {
      text: `${name} is missing, which a build may write`,
      parts: [[`${build.map(joinWords).join(', ')} before it`, { way: { ...way, build } }]],
    };
  const step = findImageStep(place, name);
  const isFolder = !/\.\w+$/.test(path) && !isAbsolute(path);
  const setup = step?.command ?? (isFolder ? `mkdir -p ${joinWords([path])}` : undefined);
  const maker = step === undefined ? '' : `: ${step.place} makes it, and Bench does not run that`;
  return {
    text: `${name} is missing${maker}`,
    option: setup && `--setup ${joinWords([setup])}`,
  };
}

/** It cannot reach a service at its usual port. */
function missService({ needs, place }: Failed, [, port = '']: RegExpExecArray): Understood | undefined {
  const name = SERVICE_NAMES.find((one) => KINDS[one].port === port);
  if (name === undefined) return undefined;
  const { variable, title } = KINDS[name];
  const others = needs.filter((need) => need.name !== name);
  if (others.length < needs.length)
    return {
      text: `it looks for ${title} on port ${port} only`,
      parts: [[`without ${name}`, { needs: others }]],
    };
  const mention = findMention(place, new RegExp(`(?<!\\d)${port}(?!\\d)`));
  const names = mention === undefined ? '' : `: ${mention} names it`;
  // A file that is no source takes no address from a variable.
  const isSource = mention === undefined || /\.(?:py|[cm]?[jt]s|go|rs|env)\b/.test(mention);
  return {
    text: `${title} is missing${names}. Nothing listens on port ${port}: start it there, or let the server read its address from ${variable}`,
    option: `--service ${name}`,
    parts: isSource ? [[`${name}, whose address ${variable} has`, { needs: [...needs, needOf(name)] }]] : [],
  };
}

/** What programs say of a variable that is not set, and its name. */
const UNSET = /required|missing|not set|undefined|must be|not defined|environment|KeyError/i;
const VARIABLE = /(?<!\bin )\b(?!ERR_)[A-Z][A-Z0-9]*_[A-Z0-9_]+\b/;

/** It seems to miss a variable. A server that ends without those of `.env` does not read the file itself. */
function missVariable({ place, words, code, envFile }: Failed): Understood {
  const lines = words.split('\n');
  // Some validators name it in the next line.
  const line =
    lines.find((one) => VARIABLE.test(one) && UNSET.test(one)) ??
    lines.find((one, index) => VARIABLE.test(one) && UNSET.test(lines[index - 1] ?? ''));
  const field = /^\W*([a-z][a-z0-9_]*)\n\W+field required/im.exec(words)?.[1]?.toUpperCase();
  const variable = VARIABLE.exec(line ?? '')?.[0] ?? field;
  const hasFile = code !== 'toolchain' && envFile === undefined && existsSync(join(place, '.env'));
  return {
    text: variable && `it misses the variable ${variable}`,
    option: variable && `--env ${variable}=`,
    parts: hasFile ? [['the variables of .env', { envFile: '.env' }]] : [],
  };
}

/** Where nobody pins them, the packages of the day of the commit may fit, and an older Python. */
async function ageBoth({ way, place, words, packagesUntil, version = '', isChosen }: Failed) {
  const isOfAge = !NO_SERVICE.test(words) && OF_AGE.some((one) => one.test(words));
  if (way.runtime !== 'python' || !isOfAge) return undefined;
  const day = (await tryGit(place, ['log', '-1', '--format=%cs']))?.trim() ?? '';
  const ofDay = isChosen === true && day !== '' ? await firstHere(pythonsSince(day)) : undefined;
  const admitted = isChosen === true ? admittedBy(place, 'python') : [];
  const at = admitted.indexOf(version);
  const older = at < 0 ? undefined : await firstHere(admitted.slice(at + 1));
  const parts: Understood['parts'] = [];
  const both = ofDay === undefined ? '' : `, and Python ${ofDay}`;
  const asOfDay = { packagesUntil: day, ...present({ version: ofDay }) };
  if (day !== '' && packagesUntil === undefined)
    parts.push([`the packages of ${day}, the day of the commit${both}`, asOfDay]);
  if (older === undefined)
    return parts.length === 0 ? undefined : { text: 'its packages are newer than the project', parts };
  parts.push([`Python ${older}`, { version: older }]);
  return { text: `it fails with CPython ${version}, which Bench chose`, parts };
}

/** Returns the first of these versions of Python that this machine has. */
async function firstHere(versions: readonly string[]): Promise<string | undefined> {
  for (const version of versions) if ((await findHere(version)) !== undefined) return version;
  return undefined;
}
