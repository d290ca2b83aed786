/**
 * Commands as tables: the parser, the help and the errors of a command all come from one declaration. Node splits the
 * words, and the library commander lays out the help.
 */
import { createRequire } from 'node:module';
import { parseArgs } from 'node:util';
import type { Command as Commander } from 'commander';
import { UsageError } from 'bench-model/errors';
import { present } from 'bench-model/options';
import { commandLine, documentOf } from 'bench-machine/home';
import { suggest } from 'bench-model/suggest';
import { COMMA, type Reader } from './values.ts';

/** One option of a command. */
export interface OptionSpec<T> {
  /** The placeholder of the value in the help, e.g. `<n>`; absent for a switch. */
  value?: string;
  help: string;
  short?: string;
  group?: string;
  read: Reader<unknown>;
  many: boolean;
  /** What separates several values in one text; absent if it holds one. */
  separator?: RegExp;
  default?: T;
  /** The default in words, if it depends on other options. */
  usually?: string;
  /** Options that contradict this one, each with the reason or the remedy. */
  conflicts?: Readonly<Record<string, string>>;
  /** The option without which this one has no effect. */
  needs?: string;
  /** Refuses all other options but those of `beside`, for this reason: `reuses the stored plan`. */
  alone?: string;
  beside?: readonly string[];
}

/** The details of an option: `help` is shown, the others decide what is refused. */
type Details<T> = Omit<OptionSpec<T>, 'value' | 'read' | 'many' | 'group'>;

/** Declares a switch: false if it is absent. */
export function flag(details: Omit<Details<boolean>, 'default'>): OptionSpec<boolean> {
  return { ...details, read: () => true, many: false, default: false };
}

/** Declares an option with a value: undefined if it is absent and has no default. */
export function option<T, D extends NoInfer<T> | undefined = undefined>(
  value: string,
  read: Reader<T>,
  details: Omit<Details<T>, 'default'> & { default?: D },
): OptionSpec<T | D> {
  return { ...details, value, read, many: false };
}

/**
 * Declares an option that can be repeated: a list, empty if it is absent. Each text can hold several values, by default
 * with commas between them; null if a comma belongs to a value.
 */
export function repeated<T>(
  value: string,
  read: Reader<T>,
  {
    separator = COMMA,
    ...details
  }: Omit<Details<T[]>, 'default' | 'separator'> & { separator?: RegExp | null },
): OptionSpec<T[]> {
  return { ...details, value, read, many: true, default: [], ...(separator !== null && { separator }) };
}

/** Declares options that the help shows together. */
export function inGroup<O extends object>(group: string, options: O): O {
  const all = Object.entries<OptionSpec<unknown>>(options as never);
  return Object.fromEntries(all.map(([name, one]) => [name, { ...one, group }])) as O;
}

/** Gives several options the same reason or remedy. */
export function explainEach(names: readonly string[], reason: string): Record<string, string> {
  return Object.fromEntries(names.map((name) => [name, reason]));
}

type Table = Readonly<Record<string, OptionSpec<never>>>;

type CamelCase<S extends string> = S extends `${infer Head}-${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : S;

/** The values of a table of options: `fail-on` is `failOn`. */
export type Values<O> = {
  [K in keyof O & string as CamelCase<K>]: O[K] extends OptionSpec<infer T> ? T : never;
};

/** The positional arguments of a command. */
interface ArgumentSpec {
  /** Their form in the help: `[target...]`, `<run> [run]`. */
  terms: string;
  /** The noun for one of them in messages. */
  noun: string;
  help: string;
  /** The help of the second one, if there are two. */
  more?: string;
  /** A complete command line with the right number of them. */
  example: string;
  /** Returns the options that contradict these words, each with the remedy. */
  conflicts?: (words: readonly string[]) => Readonly<Record<string, string>>;
}

/** The values of the options of a command, and its arguments. */
export type Parsed<O> = Values<O> & { args: string[] };

/** The words of `S`, if each is one of `K`; otherwise never. */
type WordsOf<K extends string, S> = S extends `${infer One extends K} ${infer Rest}`
  ? `${One} ${WordsOf<K, Rest>}`
  : S & K;

/** The declaration of a command. `read` turns the parsed words into a request, and `run` does what it asks for. */
interface CommandSpec<O, T> {
  /** The name of its file: the word after `bench-http`. */
  name: string;
  /**
   * The first paragraph of the help. Its first sentence is the line of the command in the overview. Absent for a command
   * that only other programs start.
   */
  about?: string;
  arguments?: ArgumentSpec;
  options: O;
  /** Complete command lines, each with what it answers: the first thing that its user looks for. */
  examples?: readonly (readonly [words: string, answers: string])[];
  /** The names of the options that most users need, if there are many: `--help` shows these, and `--help-all` shows all. */
  usual?: string;
  /** The command whose help lists the options that are not usual; by default `--help-all` of this one does. */
  listedBy?: string;
  notes?: string;
  /** By default, the request is what was parsed. */
  read?: (parsed: Parsed<O>, words: readonly string[]) => T;
  /** Runs the command. Returns the exit code, if it is not 0. */
  run(request: NoInfer<T>): Promise<number | void>;
}

/** A command that can be parsed, explained and run. */
export interface Command<T> {
  name: string;
  /** What it does, in a sentence; empty for a command that only other programs start. */
  summary: string;
  /** Returns the typed value of a command line. Throws a usage error if it is not valid. */
  parse(words: readonly string[]): T;
  /** The text of `--help` or, with all options, that of `--help-all`, at most 80 columns wide. */
  help(all?: boolean): string;
  run(request: T): Promise<number | void>;
  options: Readonly<Record<string, OptionSpec<unknown>>>;
}

const HELP_COLUMNS = 80;

/** Lays out the help; loaded for it. */
const loadCommander = (): typeof import('commander') =>
  createRequire(import.meta.url)('commander') as typeof import('commander');

/** Makes a command from its declaration. */
export function defineCommand<const O extends object, T = Parsed<O>, const U extends string = string>(
  spec: CommandSpec<O, T> & { usual?: U & WordsOf<keyof O & string, U> },
): Command<T> {
  const table = spec.options as Table;
  const { read = (parsed) => parsed as T } = spec;
  return {
    name: spec.name,
    summary: spec.about?.split('. ')[0]?.replace(/\.$/, '') ?? '',
    options: table,
    run: (request) => spec.run(request),
    help(asksAll = false) {
      const all = asksAll && spec.listedBy === undefined;
      const rest = all || spec.usual === undefined ? undefined : describeRest(spec, spec.usual);
      const notes = [rest, spec.notes].flatMap((one) => (one === undefined ? [] : [`${one}\n`]));
      return [toCommander(spec, table, all).helpInformation(), ...notes].join('\n');
    },
    parse: (words) => read(parseWords(spec, table, words), words),
  };
}

/** Renders the overview of commands from their names and summaries, at most 80 columns wide. */
export function renderOverview(commands: readonly (readonly [name: string, summary: string])[]): string {
  const commander = createCommander('bench-http')
    .description(
      `Compares HTTP servers on this machine. In the folder of your service:

  bench-http init               finds out how it starts, and writes stack.json
  bench-http compare main HEAD  what did my branch change?`,
    )
    .usage('<command> [options]')
    .helpOption(false)
    .helpCommand(false);
  for (const [name, summary] of commands) commander.command(name).description(summary);
  return `${commander.helpInformation()}
bench-http <command> --help shows the options of a command.
Runs are stored in .bench/results of the project. Environments are kept in the
user cache.
`;
}

function createCommander(name: string): Commander {
  const { Command } = loadCommander();
  return new Command(name)
    .configureOutput({ getOutHelpWidth: () => HELP_COLUMNS })
    .configureHelp({ optionDescription: ({ description }) => description });
}

function describeRest<O, T>({ name, options, listedBy }: CommandSpec<O, T>, usual: string): string {
  if (listedBy !== undefined)
    return `It takes the other options of ${commandLine(listedBy)} that apply to it.`;
  const more = Object.keys(options as object).length - usual.split(' ').length;
  return `${commandLine(name)} --help-all shows ${more} more options.`;
}

function toCommander<O, T>(spec: CommandSpec<O, T>, table: Table, all: boolean): Commander {
  const { about = '', examples = [], usual } = spec;
  const width = Math.max(...examples.map(([words]) => words.length));
  const lines = examples.map(([words, answers]) => `  ${words.padEnd(width)}  ${answers}`);
  const commander = createCommander(commandLine(spec.name))
    .description([about, lines.join('\n')].filter(Boolean).join('\n\n'))
    .helpOption('-h, --help', 'show this help');
  for (const [index, term] of (spec.arguments?.terms.split(' ') ?? []).entries())
    commander.argument(term, index === 0 ? spec.arguments?.help : spec.arguments?.more);
  for (const [name, one] of Object.entries(table)) {
    const isHidden = !all && usual !== undefined && !usual.split(' ').includes(name);
    const { short, value, group } = one;
    const flags = [...(short === undefined ? [] : [`-${short}`]), `--${name}`].join(', ');
    const shown = commander.createOption(
      value === undefined ? flags : `${flags} ${value}`,
      describeOption(one),
    );
    if (group !== undefined) shown.helpGroup(`${group}:`);
    commander.addOption(shown.hideHelp(isHidden));
  }
  return commander;
}

/** Returns the help of an option, with its default. */
export function describeOption({ help, many, separator, ...of }: OptionSpec<unknown>): string {
  const usual = of.usually ?? (['number', 'string'].includes(typeof of.default) ? String(of.default) : '');
  const notes = [
    usual === '' ? '' : `default: ${usual}`,
    many ? `repeatable${separator === undefined ? '' : ', or a list'}` : '',
  ].filter(Boolean);
  return notes.length === 0 ? help : `${help} (${notes.join('; ')})`;
}

/** What other tools take as options, and a file of requests says for each request. */
const OF_REQUEST = /^--(expect|method|status|schema|weight|login)/;

/** Reads the words of a command line. Throws a usage error if they are not valid. */
function parseWords<O, T>(spec: CommandSpec<O, T>, table: Table, words: readonly string[]): Parsed<O> {
  const all = Object.entries<OptionSpec<unknown>>(table);
  const { tokens, positionals: args } = parseArgs({
    args: words,
    options: Object.fromEntries(
      all.map(([name, { value, short }]) => [
        name,
        { type: value === undefined ? 'boolean' : 'string', ...present({ short }) },
      ]),
    ),
    strict: false,
    tokens: true,
  });
  const options = tokens.filter((token) => token.kind === 'option');
  const unknown = options.find(({ name }) => !Object.hasOwn(table, name));
  if (unknown !== undefined) throw unknownOption(unknown.rawName, spec, table);
  const typed = Map.groupBy(options, ({ name }) => name);
  const values = all.flatMap(([name, one]) => {
    const texts = typed.get(name)?.map(({ value }) => value);
    const value = texts === undefined ? one.default : readOption(name, texts, table);
    const camelCase = name.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
    return value === undefined ? [] : [[camelCase, value] as const];
  });
  refuseCount(spec, args.length);
  refuseCombination(spec, table, new Set(typed.keys()), args);
  return { ...(Object.fromEntries(values) as Values<O>), args };
}

/** Returns the value of an option, by the text after each of its mentions. Throws a usage error for one that it does not take. */
function readOption(name: string, texts: readonly (string | undefined)[], table: Table): unknown {
  const { value, many, separator, read } = table[name] as OptionSpec<unknown>;
  const given = texts.filter((text) => text !== undefined);
  if (value === undefined) {
    if (given.length === 0) return true;
    throw new UsageError(`--${name} takes no value`, `write --${name}`);
  }
  const isOption = (text: string): boolean => text.startsWith('--') && Object.hasOwn(table, text.slice(2));
  if (given.length < texts.length || given.some(isOption))
    throw new UsageError(`--${name} needs a value`, `write --${name} ${value}`);
  if (given.length > 1 && !many) {
    const all = given.map((text) => `--${name} ${text}`).join(' ');
    throw new UsageError(`${all}: --${name} takes one value`, 'omit one of them');
  }
  const split = separator && given.flatMap((text) => text.split(separator).map((part) => part.trim()));
  const values = (split ?? given).map((part) => read(part, name));
  return many ? values : values[0];
}

function unknownOption<O, T>(typed: string, spec: CommandSpec<O, T>, table: Table): UsageError {
  const names = [...Object.keys(table), 'help', 'help-all'].map((one) => `--${one}`);
  const isOfRequest = Object.hasOwn(table, 'requests-file') && OF_REQUEST.test(typed);
  const hint = isOfRequest
    ? `a file of requests has it: ${documentOf('guides/requests.md')}`
    : nameList(spec);
  return new UsageError(`unknown option ${typed}`, suggest(typed, names) ?? hint);
}

function nameList<O, T>({ name, listedBy }: CommandSpec<O, T>): string {
  return `${commandLine(name)} --help${listedBy === undefined ? '-all' : ''} lists the options`;
}

/** Throws a usage error for too few or too many arguments. */
function refuseCount<O, T>(spec: CommandSpec<O, T>, count: number): void {
  const { terms = '', noun = 'argument', example } = spec.arguments ?? {};
  const all = terms.split(' ').filter(Boolean);
  if (count < all.filter((term) => term.startsWith('<')).length)
    throw new UsageError(`name ${/^[aeiou]/.test(noun) ? 'an' : 'a'} ${noun}`, example);
  if (count <= all.length || terms.includes('...')) return;
  const most =
    all.length === 0 ? 'no arguments' : `at most ${all.length} ${all.length === 1 ? noun : 'arguments'}`;
  throw new UsageError(`${commandLine(spec.name)} takes ${most}`, example ?? nameList(spec));
}

/** Throws a usage error for options and arguments that contradict each other or have no effect. */
function refuseCombination<O, T>(
  { name: command, arguments: spec }: CommandSpec<O, T>,
  table: Table,
  options: ReadonlySet<string>,
  args: readonly string[],
): void {
  const excluded = Object.entries(spec?.conflicts?.(args) ?? {}).find(([name]) => options.has(name));
  if (excluded !== undefined)
    throw new UsageError(`--${excluded[0]} and ${args[0]} cannot be combined`, excluded[1]);
  for (const name of options) {
    const { alone, beside = [], conflicts = {}, needs, value = '' } = table[name] ?? {};
    const stray = [...options].find((other) => other !== name && !beside.includes(other));
    if (alone !== undefined && stray !== undefined)
      throw new UsageError(
        `--${name} ${alone}, so --${stray} cannot be combined with it`,
        commandLine(`${command} --${name} ${value}`).trimEnd(),
      );
    const against = Object.entries(conflicts).find(([other]) => options.has(other));
    if (against !== undefined)
      throw new UsageError(`--${name} and --${against[0]} cannot be combined`, against[1]);
    if (needs !== undefined && !options.has(needs))
      throw new UsageError(
        `--${name} has no effect without --${needs}`,
        `add ${`--${needs} ${table[needs]?.value ?? ''}`.trimEnd()}, or omit --${name}`,
      );
  }
}

/** The option that all measuring commands share. */
export const WAITS = {
  wait: flag({ help: 'if another run is measuring on this machine, wait until it ends' }),
};
