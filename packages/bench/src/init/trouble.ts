/** What went wrong in a try: one sentence, and the drafts that may do better. */
import { existsSync } from 'node:fs';
import { basename, isAbsolute, join } from 'node:path';
import { tryGit } from 'bench-machine/git';
import { BenchError } from 'bench-model/errors';
import { present } from 'bench-model/options';
import { KINDS, needOf, SERVICE_NAMES } from 'bench-targets/catalogue/apps/needs';
import { admittedBy } from 'bench-targets/catalogue/apps/pinned';
import { findExample, findMention, withPort } from 'bench-targets/catalogue/apps/variables';
import { buildOfNode, findImageStep } from 'bench-targets/catalogue/apps/ways';
import { joinWords } from 'bench-targets/catalogue/apps/words';
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
  /** The likeliest first. */
  changes?: Change[];
  /** A variable that the server seems to miss. */
  variable?: string | undefined;
  /** A command that may make what it misses. Only the user can tell if it may run here. */
  setup?: string | undefined;
  /** The option that may mend it, where nobody can be asked. */
  hint?: string | undefined;
}

/** A try that failed. */
export interface Trouble extends Understood {
  error: BenchError;
  text: string;
  changes: Change[];
}

/** What the rules look at. */
interface Failed {
  draft: Draft;
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
  const failed = { draft, place: join(root, draft.way.folder), words, ports: seen.ports, code: error.code };
  const found: Understood[] = [];
  for (const rule of seen.hasStarted ? RULES : [...RULES, ...RULES_OF_START])
    found.push(present((await rule(failed)) ?? {}));
  // The first rule that knows a part of it.
  const { text, hint = error.hint, ...more } = Object.assign({}, ...found.toReversed()) as Understood;
  const lines = text === undefined ? [error.message] : [error.message, text];
  const setup = thrown instanceof SetupError ? `${joinWords(draft.way.setup ?? [])}: ` : '';
  return {
    ...more,
    error: new BenchError(error.code, lines.join('\n'), hint),
    text: text ?? setup + shorten(error.message),
    changes: found.flatMap(({ changes = [] }) => changes),
  };
}

/** The first line of an error, and the last line of the server's log if that says nothing. */
function shorten(message: string): string {
  const [first = '', ...rest] = message.split('\n');
  const last = rest.findLast((line) => line.startsWith('  | '));
  return /exit status \d+\)?$/.test(first) && last !== undefined ? `${first}: ${last.slice(4)}` : first;
}

type Rule = (failed: Failed) => Understood | undefined | Promise<Understood | undefined>;
const RULES: Rule[] = [hostRefused, fileMissing, serviceMissing, variableMissing, packagesTooNew];
const RULES_OF_START: Rule[] = [portTaken, programMissing, moduleMissing, subcommandMissing, pythonTooNew];

function change({ draft }: Failed, says: string, part: Partial<Draft>): Change {
  return { says, draft: { ...draft, ...part } };
}

/** It listens on other ports: a variable or an option may name them, or Bench moves it, or measures it there. */
function portTaken(failed: Failed): Understood | undefined {
  const { draft, place } = failed;
  const { way } = draft;
  // Those for TLS and for metrics are higher by custom.
  const [first, ...others] = failed.ports.toSorted((a, b) => a - b);
  if (first === undefined || draft.port !== undefined) return undefined;
  const plain = (says: string, part: Partial<Draft>): Change => ({
    ...change(failed, says, part),
    isPlain: true,
  });
  const named = withPort(way, place, first);
  if (named !== undefined) {
    const moved = others.reduce((one, port) => withPort(one, place, port, '0')?.way ?? one, named.way);
    return { changes: [plain(named.why, { way: moved })] };
  }
  const says = `it listens on port ${first}, whatever PORT says`;
  const kept = plain(`${says}: its targets are measured one at a time`, { port: first });
  // Go binds without the C library.
  if (way.language === 'go' || !canMovePorts()) return { changes: [kept] };
  return { changes: [plain(`${says}: Bench moves it`, { port: first, movesPort: true }), kept] };
}

/** Python servers that a host installs beside the project. */
const SERVERS = /^(gunicorn|uvicorn|hypercorn|granian|daphne|waitress)(?:-serve)? is not in the environment/m;

function programMissing(failed: Failed): Understood | undefined {
  const name = SERVERS.exec(failed.words)?.[1];
  if (name === undefined) return undefined;
  const packages = [...failed.draft.packages, name];
  return { changes: [change(failed, `with the package ${name}`, { packages })] };
}

/** What Python and Node say of a package that is not installed. */
const NO_MODULE = /No module named '(\w+)|Cannot find (?:package|module) '((?:@[\w-]+\/)?\w[\w.-]*)'/;

function moduleMissing({ words }: Failed): Understood | undefined {
  const [, ofPython, module = ofPython] = NO_MODULE.exec(words) ?? [];
  if (module === undefined) return undefined;
  return { text: `it imports ${module}, which no list names`, hint: `name its package: --with ${module}` };
}

/** A program that prints how it is used may have a word for its server. */
function subcommandMissing(failed: Failed): Understood | undefined {
  const { way } = failed.draft;
  if (!/\busage\b/i.test(failed.words) || way.runtime !== 'none') return undefined;
  const isListed = (word: string): boolean =>
    new RegExp(`^\\W*(?:usage:\\s*)?(?:[\\w./-]+\\s+)?${word}\\b`, 'im').test(failed.words);
  const word = ['serve', 'server', 'start', 'run', 'web'].find(
    (one) => !way.command.includes(one) && isListed(one),
  );
  if (word === undefined) return undefined;
  const command = [...way.command, word];
  return {
    text: `it needs a word for what it does: ${word}`,
    changes: [change(failed, joinWords(command), { way: { ...way, command } })],
  };
}

/** What languages say of a file, a folder or a module that is not there, with its name. */
const ABSENT =
  /(?:no such file or directory|ENOENT|does not exist|cannot find(?: module)?|not found)[^'"`\n]*['"`]([^'"`\n]+)['"`]|open ([\w./-]+): no such file|node: (\S+): not found/i;

function fileMissing(failed: Failed): Understood | undefined {
  const { draft, place, words } = failed;
  const { way } = draft;
  const path =
    ABSENT.exec(words)
      ?.slice(1)
      .find((one) => one !== undefined) ?? '';
  const isFile = /\.\w+$/.test(path);
  // Others than folders without a dot or a slash are packages.
  if (!/[./]/.test(path) && !/no such file|ENOENT/i.test(words)) return undefined;
  const name = basename(path);
  const example = name.startsWith('.env') ? findExample(place) : undefined;
  if (example !== undefined) {
    const copied = { ...way, setup: ['cp', example, name] };
    return {
      text: `${name} is missing, of which ${example} is an example`,
      changes: [change(failed, `cp ${example} ${name} before each start`, { way: copied })],
    };
  }
  const build = way.runtime === 'node' && way.build.length === 0 ? buildOfNode(place) : undefined;
  if (build !== undefined)
    return {
      text: `${name} is missing, which a build may write`,
      changes: [change(failed, `${joinWords(build)} before it`, { way: { ...way, build: [build] } })],
    };
  const step = findImageStep(place, name);
  const setup = step?.command ?? (isFile || isAbsolute(path) ? undefined : `mkdir -p ${joinWords([path])}`);
  const maker = step === undefined ? '' : `: ${step.place} makes it, and Bench does not run that`;
  return {
    text: `${name} is missing${maker}`,
    setup,
    hint: setup && `make it first: --setup ${joinWords([setup])}`,
  };
}

/** What clients say of a server that they cannot reach, with its port. */
const REFUSED =
  /(?:ECONNREFUSED|connection refused|connect call failed|can't connect to|could not connect)[^\n]*/gi;

function serviceMissing(failed: Failed): Understood | undefined {
  const { draft, place, words } = failed;
  const lines = [...words.matchAll(REFUSED)].join('\n');
  const name = SERVICE_NAMES.find((one) => lines.includes(KINDS[one].port));
  if (name === undefined) return undefined;
  const { port, variable, title } = KINDS[name];
  const others = draft.needs.filter((need) => need.name !== name);
  if (others.length < draft.needs.length)
    return {
      text: `it looks for ${title} on port ${port} only`,
      changes: [change(failed, `without ${name}`, { needs: others })],
    };
  const mention = findMention(place, new RegExp(`(?<!\\d)${port}(?!\\d)`));
  const names = mention === undefined ? '' : `: ${mention} names it`;
  // A file that is no source takes no address from a variable.
  const isSource = mention === undefined || /\.(?:py|[cm]?[jt]s|go|rs|env)\b/.test(mention);
  const needs = [...draft.needs, needOf(name)];
  return {
    text: `${title} is missing${names}. Nothing listens on port ${port}`,
    hint: `start ${title} on port ${port}, or let the server read its address from ${variable}: --service ${name}`,
    changes: isSource ? [change(failed, `${name}, whose address ${variable} has`, { needs })] : [],
  };
}

/** Django answers only to the hosts that its settings name. */
function hostRefused(failed: Failed): Understood | undefined {
  if (!/DisallowedHost|Invalid HTTP_HOST|Bad Request \(400\)/.test(failed.words)) return undefined;
  const headers = { ...failed.draft.headers, host: 'localhost' };
  return {
    text: 'its ALLOWED_HOSTS do not name 127.0.0.1',
    variable: 'ALLOWED_HOSTS',
    changes: [change(failed, 'with the header host: localhost', { headers })],
  };
}

/** What programs say of a variable that is not set, and its name. */
const UNSET = /required|missing|not set|undefined|must be|not defined|environment|KeyError/i;
const VARIABLE = /(?<!\bin )\b(?!ERR_)[A-Z][A-Z0-9]*_[A-Z0-9_]+\b/;

function variableMissing(failed: Failed): Understood {
  const { draft, place, words, code } = failed;
  const lines = words.split('\n');
  const named = lines.filter((one) => VARIABLE.test(one));
  // Some validators name it in the next line.
  const isNear = (one: string): boolean => UNSET.test(lines[lines.indexOf(one) - 1] ?? '');
  const line = named.find((one) => UNSET.test(one)) ?? named.find(isNear) ?? '';
  const field = /^\W*([a-z][a-z0-9_]*)\n\W+field required/im.exec(words)?.[1]?.toUpperCase();
  const variable = VARIABLE.exec(line)?.[0] ?? field;
  return {
    variable,
    text: variable === undefined ? undefined : `it misses the variable ${variable}`,
    hint: variable && `set it: --env ${variable}=…`,
    // A server that ends without them does not read the file itself.
    changes:
      code !== 'toolchain' && draft.envFile === undefined && existsSync(join(place, '.env'))
        ? [change(failed, 'the variables of .env', { envFile: '.env' })]
        : [],
  };
}

/** A name that a newer package no longer has. */
const GONE =
  /^\W*(?:ImportError: cannot import name|AttributeError: (?:module|type object)|ModuleNotFoundError: No module named '\w+\.)/m;
/** The last frame of a trace in Python. */
const LAST_FRAME = /File "([^"]+)", line \d+(?![^]*File ")/;

/** Where no list pins the packages, those of the day of the commit may fit. */
async function packagesTooNew(failed: Failed): Promise<Understood | undefined> {
  const { draft, place, words } = failed;
  const isInside = GONE.test(words) || LAST_FRAME.exec(words)?.[1]?.includes('site-packages') === true;
  if (draft.way.runtime !== 'python' || draft.packagesUntil !== undefined || !isInside) return undefined;
  const day = (await tryGit(place, ['log', '-1', '--format=%cs']))?.trim() ?? '';
  if (day === '') return undefined;
  const version = draft.isChosen === true ? await firstHere(pythonsSince(day)) : undefined;
  const python = version === undefined ? '' : `, and Python ${version}`;
  return {
    text: GONE.test(words) ? 'its packages are newer than the project' : undefined,
    changes: [
      change(failed, `the packages of ${day}, the day of the commit${python}`, {
        packagesUntil: day,
        ...present({ version }),
      }),
    ],
  };
}

/** Returns the first of these versions of Python that this machine has. */
async function firstHere(versions: readonly string[]): Promise<string | undefined> {
  for (const version of versions) if ((await findHere(version)) !== undefined) return version;
  return undefined;
}

/** Where the error is in a package or in Python, and Bench chose the version, an older one may fit. */
async function pythonTooNew(failed: Failed): Promise<Understood | undefined> {
  const { draft, place, words } = failed;
  const isInside = /site-packages|\/lib\/python\d|<frozen/.test(LAST_FRAME.exec(words)?.[1] ?? '');
  const isNative = /could not be built|failed to build|setup\.py/i.test(words);
  if (draft.way.runtime !== 'python' || draft.isChosen !== true || !(isInside || isNative)) return undefined;
  const all = admittedBy(place, 'python');
  const at = all.indexOf(draft.version ?? '');
  const version = at < 0 ? undefined : await firstHere(all.slice(at + 1));
  if (version === undefined) return undefined;
  return {
    text: `it fails with CPython ${draft.version}, which Bench chose`,
    changes: [change(failed, `Python ${version}`, { version })],
  };
}
