/** The conversation of `init`: how the server starts and what it needs, and again the question that a failed try comes back to. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { BenchError, UsageError } from 'bench-model/errors';
import { toLine, toPrintable } from 'bench-report/printable';
import { commandsOf } from 'bench-targets/catalogue/apps/commands';
import { needOf, SERVICE_NAMES, type Need } from 'bench-targets/catalogue/apps/needs';
import { isJob, readWay, type Way } from 'bench-targets/catalogue/apps/ways';
import { joinWords } from 'bench-targets/catalogue/projects/words';
import { logLine, printStyled } from '../terminal/shell.ts';
import { describe, say, type Asker, type Option } from './asker.ts';
import { refuseStopped, tryDraft, TryError, type Worked } from './attempt.ts';
import { draftOf, readSetup, withChoices, type Choices, type Draft } from './draft.ts';
import { chooseRequests, type Sent } from './requests.ts';
import { understand, type Change, type Trouble } from './trouble.ts';

/** The most lines of a server's log that are shown with a question, and the most other ways. */
const MOST_LINES = 12;
const MOST_OTHERS = 5;
const COMMAND = 'Which command starts the server? Its port is {port}, or PORT';
const OPTIONS = 'Which options? e.g. --env NAME=value, --header, --setup, --service, --python, --with';

/** The project, and what the options say. */
export interface Setting {
  asker: Asker;
  root: string;
  /** Nearest to production first. */
  ways: readonly Way[];
  choices: Choices;
  /** The requests that the options name. */
  requests: readonly Sent[];
  /** Reads options as the command line takes them. Throws a usage error. */
  readChoices: (typed: string) => Choices;
  /** Returns the manifest to write for a server in this folder. Throws a usage error if it cannot be there. */
  fileFor: (place: string) => string;
  /** Aborted by an interruption, which ends all tries. */
  stopping: AbortController;
}

/** Tries drafts until one works, and returns its manifest and the file for it. No draft is tried twice. */
export async function settle(setting: Setting): Promise<{ manifest: object; file: string }> {
  const { asker, root, requests, fileFor, stopping } = setting;
  const tried = new Set<string>();
  const isNew = (draft: Draft): boolean => !tried.has(JSON.stringify(draft));
  const shown = new Set<string>();
  /** The last trouble of each way. */
  const lacked = new Map<string, Trouble>();
  let changes: Change[] = [];
  let draft = await begin(setting);
  let isMoved = false;
  for (;;) {
    const file = fileFor(join(root, draft.way.folder));
    const attempt = (one: Draft, named: readonly Sent[]): Promise<Worked> =>
      tryDraft(one, { file, stopping }, (asking) => chooseRequests(asking, asker, named));
    const lines = commandsOf(draft.way, root, draft).filter((line) => !shown.has(line));
    for (const line of lines) shown.add(line);
    await agree(lines, asker, isMoved);
    tried.add(JSON.stringify(draft));
    try {
      const worked = await attempt(draft, requests);
      return { manifest: (await withoutUnused(worked, draft, attempt)).manifest, file };
    } catch (error) {
      refuseStopped(stopping);
      const trouble = await understand(error, draft, root);
      const { why } = draft.way;
      lacked.set(why, trouble);
      // A server that has started listens at the right place.
      const hasStarted = error instanceof TryError && error.seen.hasStarted;
      changes = [...trouble.changes, ...changes].filter(
        (one) => one.draft.way.why === why && isNew(one.draft) && !(hasStarted && one.isPlain),
      );
      const plain = changes.find(({ isPlain }) => isPlain);
      if (plain !== undefined) say('assumed', plain.says);
      isMoved = plain !== undefined;
      draft = plain?.draft ?? (await mend(trouble, draft, { ...setting, changes, isNew, lacked }));
    }
  }
}

/** Leaves out the services that nothing connected to, if the server works without their variables too. */
async function withoutUnused(
  worked: Worked,
  draft: Draft,
  attempt: (draft: Draft, named: readonly Sent[]) => Promise<Worked>,
): Promise<Worked> {
  const { unused, requests } = worked;
  if (unused.length === 0) return worked;
  say('left out', `${unused.map(({ name }) => name).join(', ')}: nothing connected to it`);
  const needs = draft.needs.filter((need) => !unused.includes(need));
  return attempt({ ...draft, needs }, requests).catch((error: unknown) => {
    if (!(error instanceof BenchError) || error.code === 'interrupted') throw error;
    say('kept', `it does not work without: ${error.message.split('\n')[0]}`);
    return worked;
  });
}

/** Asks how the server starts, and what it needs. */
async function begin({ asker, root, ways, choices }: Setting): Promise<Draft> {
  const [first] = ways;
  if (first === undefined && !asker.isUser) throw saysNothing(root);
  const way = first?.why === '--run' ? first : await askWay(asker, root, ways);
  const draft = await draftOf(way, root, choices);
  let { needs } = draft;
  let { setup } = draft.way;
  if (choices.setup === undefined) {
    const typed = setup?.[0] === 'sh' && setup[1] === '-c' ? setup[2] : setup && joinWords(setup);
    setup = await asker.type('Before each start? (Enter for nothing)', typed ?? '', readSetup);
  }
  if (choices.service.length === 0) needs = await askServices(asker, needs);
  return { ...draft, needs, way: { ...draft.way, setup } };
}

async function askWay(asker: Asker, root: string, ways: readonly Way[]): Promise<Way> {
  const options: Option<Way | undefined>[] = ways.map(describeWay);
  if (!asker.isUser) for (const one of options.slice(1, MOST_OTHERS)) say('or', describe(one));
  else if (ways.length > 0) options.push({ value: undefined, label: 'another command …' });
  const way = ways.length === 0 ? undefined : await asker.pick('How does the server start?', options);
  return way ?? asker.type(COMMAND, '', (typed) => readWay(root, typed));
}

function describeWay(value: Way): Option<Way> {
  const { folder, command, why: hint } = value;
  return { value, label: `${joinWords(command)}${folder === '' ? '' : ` in ${folder}`}`, hint };
}

function askServices(asker: Asker, found: readonly Need[]): Promise<Need[]> {
  const needs = SERVICE_NAMES.map((name) => found.find((need) => need.name === name) ?? needOf(name));
  const options = needs.map((value): Option<Need> => {
    return { value, label: value.name, hint: Object.keys(value.env).join(', ') };
  });
  return asker.pickMany('What does it need?', options, found);
}

/** Shows what is executed next, in words that hide nothing. Throws if the user does not want that. */
async function agree(lines: readonly string[], asker: Asker, isMoved: boolean): Promise<void> {
  const printable = lines.map((line) => toPrintable(toLine(line.replaceAll('\n', '\\n'))));
  printStyled(printable.map((line) => `${'runs'.padEnd(9)}${line}\n`).join(''));
  if (lines.length === 0 || isMoved) return;
  // Where the output goes into a file, the question shows it.
  const again = process.stdout.isTTY ? '' : `${printable.join('\n')}\n`;
  if (await asker.agree(`${again}Run this, with your rights?`)) return;
  throw new UsageError(
    'nothing of the project was executed, and nothing was written',
    "name another command: --run 'uvicorn app:app --port {port}'",
  );
}

/** What is left to try after a failure. */
interface Left extends Setting {
  changes: readonly Change[];
  isNew: (draft: Draft) => boolean;
  lacked: ReadonlyMap<string, Trouble>;
}

/** Shows what went wrong, and asks what to change: what was understood comes first. Throws if nothing is left. */
async function mend(trouble: Trouble, draft: Draft, left: Left): Promise<Draft> {
  const { asker, root, ways, choices, changes, isNew, lacked } = left;
  // Only users start what migrates or fills a database.
  const others = ways
    .filter(({ why, command: [program = ''] }) => !lacked.has(why) && (asker.isUser || !isJob(program)))
    .slice(0, MOST_OTHERS);
  const edits: Option<(() => Promise<Draft>) | undefined>[] = [
    ...changes.map((one) => ({ label: one.says, value: async () => one.draft })),
    ...(asker.isUser ? editsOf(trouble, draft, left) : []),
    ...others.map((one) => ({ ...describeWay(one), value: () => draftOf(one, root, choices) })),
  ];
  if (asker.isUser) {
    const [first = '', ...rest] = trouble.error.message.split('\n');
    logLine([first, ...rest.slice(-MOST_LINES)].join('\n'));
    edits.push({ label: 'nothing: stop', value: undefined });
  } else if (edits.length > 0) say('failed', trouble.text);
  else throw endOf(trouble, lacked);
  for (;;) {
    const change = await asker.pick('What to change?', edits);
    if (change === undefined) throw trouble.error;
    const changed = await change();
    if (isNew(changed)) return changed;
    logLine('that was tried already');
  }
}

/** What the user may type: another command, and any option, of which one may be understood. */
function editsOf(
  { option }: Trouble,
  draft: Draft,
  { asker, root, choices, readChoices }: Setting,
): Option<() => Promise<Draft>>[] {
  const { way } = draft;
  const command = (): Promise<Draft> =>
    asker.type(COMMAND, joinWords(way.command), async (typed) => {
      // Nothing is a way back to the question.
      const other = typed === '' ? way : readWay(root, typed);
      if (other.folder !== way.folder || other.runtime !== way.runtime) return draftOf(other, root, choices);
      return { ...draft, way: { ...way, command: other.command, env: { ...way.env, ...other.env } } };
    });
  const options = (): Promise<Draft> =>
    asker.type(OPTIONS, option ?? '--env ', (typed) =>
      typed === '' ? draft : withChoices(draft, readChoices(typed)),
    );
  const edits = [
    { label: 'another command …', value: command },
    { label: 'an option …', hint: option, value: options },
  ];
  return option === undefined ? edits : edits.toReversed();
}

/** Says for each way what it lacked. */
function endOf({ error }: Trouble, lacked: ReadonlyMap<string, Trouble>): BenchError {
  if (new Set([...lacked.values()].map(({ text }) => text)).size === 1) return error;
  const [first] = lacked.values();
  const lines = [...lacked].map(([why, { text }]) => `  ${why}: ${text}`);
  const message = [`no way of ${lacked.size} to start the server worked:`, ...lines].join('\n');
  return new BenchError(first?.error.code ?? error.code, message, first?.error.hint);
}

/** The languages of projects by a file, with a command that starts a server in them. */
const LANGUAGES: [file: string, language: string, command: string][] = [
  ['Gemfile', 'Ruby', 'bundle exec puma --bind tcp://{host}:{port}'],
  ['composer.json', 'PHP', 'php -S {host}:{port} -t public'],
  ['mix.exs', 'Elixir', 'mix phx.server'],
  ['go.mod', 'Go', '{build}/server --port {port}'],
  ['deno.json', 'Deno', 'deno run -A main.ts'],
  ['package.json', 'Node', 'node server.js'],
];

/** Returns the error of a project that says nowhere how it starts. */
function saysNothing(root: string): UsageError {
  const [, language, command = 'uvicorn app:app --port {port}'] =
    LANGUAGES.find(([file]) => existsSync(join(root, file))) ?? [];
  return new UsageError(
    `nothing in this ${language === undefined ? 'folder' : `${language} project`} says how its server starts`,
    `name the command that starts it: --run '${command}'`,
  );
}
