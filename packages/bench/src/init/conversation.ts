/** The conversation of `init`: how the server starts and what it needs, and again the question that a failed try comes back to. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { BenchError, UsageError } from 'bench-model/errors';
import { toLine, toPrintable } from 'bench-report/printable';
import { commandsOf } from 'bench-targets/catalogue/apps/commands';
import { needOf, SERVICE_NAMES, type Need } from 'bench-targets/catalogue/apps/needs';
import { isJob, readWay, type Way } from 'bench-targets/catalogue/apps/ways';
import { joinWords } from 'bench-targets/catalogue/apps/words';
import { logLine, printStyled } from '../terminal/shell.ts';
import { describe, say, type Asker, type Option } from './asker.ts';
import { refuseStopped, tryDraft, TryError, type Worked } from './attempt.ts';
import type { Draft } from './draft.ts';
import { chooseRequests, typedOf } from './requests.ts';
import { draftOf, readSetup, typedSetup, withSetup, type Choices } from './start.ts';
import { understand, type Change, type Trouble } from './trouble.ts';

/** The most lines of a server's log that are shown with a question, and the most other ways. */
const MOST_LINES = 12;
const MOST_OTHERS = 5;
const COMMAND = 'Which command starts the server? Its port is {port}, or PORT';

/** The project, and what the options say. */
export interface Setting {
  asker: Asker;
  root: string;
  /** Nearest to production first. */
  ways: readonly Way[];
  choices: Choices;
  /** Returns the manifest to write for a server in this folder. Throws a usage error if it cannot be there. */
  fileFor: (place: string) => string;
  /** Aborted by an interruption, which ends all tries. */
  stopping: AbortController;
}

/** Tries drafts until one works, and returns its manifest and the file for it. No draft is tried twice. */
export async function settle(setting: Setting): Promise<{ manifest: object; file: string }> {
  const { asker, root, choices, fileFor, stopping } = setting;
  const tried = new Set<string>();
  const isNew = ({ draft }: Pick<Change, 'draft'>): boolean => !tried.has(JSON.stringify(draft));
  const shown = new Set<string>();
  /** The last trouble of each way. */
  const lacked = new Map<string, Trouble>();
  let changes: Change[] = [];
  let draft = await begin(setting);
  let isMoved = false;
  let working: Worked | undefined;
  for (;;) {
    const file = fileFor(join(root, draft.way.folder));
    const lines = commandsOf(draft.way, { root, ...draft }).filter((line) => !shown.has(line));
    for (const line of lines) shown.add(line);
    await agree(lines, asker, isMoved);
    tried.add(JSON.stringify(draft));
    try {
      const named = working?.requests.map(typedOf) ?? choices.requests;
      working = await tryDraft(draft, { file, stopping }, (asking) => chooseRequests(asking, asker, named));
      const { manifest, unused } = working;
      if (unused.length === 0) return { manifest, file };
      say('left out', `${unused.map(({ name }) => name).join(', ')}: nothing connected to it`);
      draft = { ...draft, needs: draft.needs.filter((need) => !unused.includes(need)) };
    } catch (error) {
      refuseStopped(stopping);
      if (working !== undefined) {
        say('kept', `it does not work without: ${(error as Error).message.split('\n')[0]}`);
        return { manifest: working.manifest, file };
      }
      const trouble = await understand(error, draft, root);
      const { why } = draft.way;
      lacked.set(why, trouble);
      // A server that has started listens at the right place.
      const hasStarted = error instanceof TryError && error.seen.hasStarted;
      changes = [...trouble.changes, ...changes].filter(
        (one) => one.draft.way.why === why && isNew(one) && !(hasStarted && one.isPlain === true),
      );
      const plain = changes.find(({ isPlain }) => isPlain);
      if (plain !== undefined) say('assumed', plain.says);
      isMoved = plain !== undefined;
      draft = plain?.draft ?? (await mend(trouble, draft, { ...setting, changes, isNew, lacked }));
    }
  }
}

/** Asks how the server starts, and what it needs. */
async function begin({ asker, root, ways, choices }: Setting): Promise<Draft> {
  const [first] = ways;
  if (first === undefined && !asker.isUser) throw saysNothing(root);
  const way = first?.why === '--run' ? first : await askWay(asker, root, ways);
  const draft = await draftOf(way, root, choices);
  const prepared = choices.setup === undefined ? await askSetup(asker, draft) : draft;
  return choices.services === undefined ? askServices(asker, prepared) : prepared;
}

async function askWay(asker: Asker, root: string, ways: readonly Way[]): Promise<Way> {
  const options: Option<Way | undefined>[] = ways.map((way) => ({
    value: way,
    label: describeWay(way),
    hint: way.why,
  }));
  if (!asker.isUser) for (const one of options.slice(1, MOST_OTHERS)) say('or', describe(one));
  const other = asker.isUser ? [{ value: undefined, label: 'another command …' }] : [];
  const way =
    ways.length === 0 ? undefined : await asker.pick('How does the server start?', [...options, ...other]);
  return way ?? asker.type(COMMAND, '', (typed) => readWay(root, typed));
}

function askSetup(asker: Asker, draft: Draft, proposed = typedSetup(draft.way.setup)): Promise<Draft> {
  return asker.type('Before each start? (Enter for nothing)', proposed, (typed) => ({
    ...draft,
    way: withSetup(draft.way, readSetup(typed)),
  }));
}

async function askServices(asker: Asker, draft: Draft): Promise<Draft> {
  const needs = SERVICE_NAMES.map((name) => draft.needs.find((need) => need.name === name) ?? needOf(name));
  const options = needs.map((value): Option<Need> => ({
    value,
    label: value.name,
    hint: Object.keys(value.env).join(', '),
  }));
  return { ...draft, needs: await asker.pickMany('What does it need?', options, draft.needs) };
}

/** Shows what is executed next, in words that hide nothing. Throws if the user does not want that. */
async function agree(lines: readonly string[], asker: Asker, isMoved: boolean): Promise<void> {
  const printable = lines.map((line) => toPrintable(toLine(line.replaceAll('\n', '\\n'))));
  printStyled(printable.map((line) => `${'runs'.padEnd(9)}${line}\n`).join(''));
  if (lines.length === 0 || isMoved) return;
  // Where the output goes into a file, the question shows it.
  const again = process.stdout.isTTY ? '' : `${printable.join('\n')}\n`;
  if (await asker.agree(`${again}Run this, with your rights?`)) return;
  throw new BenchError(
    'usage',
    'nothing of the project was executed, and nothing was written',
    "name another command: --run 'uvicorn app:app --port {port}'",
  );
}

/** What is left to try after a failure. */
interface Left extends Setting {
  changes: readonly Change[];
  isNew: (one: { draft: Draft }) => boolean;
  lacked: ReadonlyMap<string, Trouble>;
}

type Edit = Option<(() => Promise<Draft>) | undefined>;

/** Shows what went wrong, and asks what to change: what was understood comes first. Throws if nothing is left. */
async function mend(trouble: Trouble, draft: Draft, left: Left): Promise<Draft> {
  const { asker, root, ways, choices, changes, isNew, lacked } = left;
  // Only users start what migrates or fills a database.
  const others = ways
    .filter(({ why, command: [program = ''] }) => !lacked.has(why) && (asker.isUser || !isJob(program)))
    .slice(0, MOST_OTHERS);
  const edits: Edit[] = [
    ...changes.map((one) => ({ label: one.says, value: async () => one.draft })),
    ...(asker.isUser ? editsOf(trouble, draft, left) : []),
    ...others.map((one) => ({
      label: describeWay(one),
      hint: one.why,
      value: () => draftOf(one, root, choices),
    })),
  ];
  if (asker.isUser) {
    const lines = trouble.error.message.split('\n');
    logLine([...lines.slice(0, 1), ...lines.slice(1).slice(-MOST_LINES)].join('\n'));
    edits.push({ label: 'nothing: stop', value: undefined });
  } else if (edits.length > 0) say('failed', trouble.text);
  else throw endOf(trouble, lacked);
  for (;;) {
    const change = await asker.pick('What to change?', edits);
    if (change === undefined) throw trouble.error;
    const changed = await change();
    if (isNew({ draft: changed })) return changed;
    logLine('that was tried already');
  }
}

/** The parts of a draft that the user may type: those of which something was understood come first. */
function editsOf({ variable, setup }: Trouble, draft: Draft, { asker, root, choices }: Setting): Edit[] {
  const { way } = draft;
  const edits: Edit[] = [
    {
      label: 'another command …',
      value: () =>
        asker.type(COMMAND, joinWords(way.command), async (typed) => {
          if (typed === '') return draft;
          const other = readWay(root, typed);
          if (other.folder !== way.folder || other.runtime !== way.runtime)
            return draftOf(other, root, choices);
          return { ...draft, way: { ...way, ...other, build: way.build, env: { ...way.env, ...other.env } } };
        }),
    },
    { label: 'a variable or a header …', hint: variable, value: () => askVariable(asker, draft, variable) },
    { label: 'what runs before each start …', hint: setup, value: () => askSetup(asker, draft, setup) },
    { label: 'its services …', value: () => askServices(asker, draft) },
    {
      label: `another version of ${way.runtime} …`,
      value: () =>
        asker.type('Which version?', draft.version ?? '', (typed) =>
          typed === '' ? draft : { ...draft, version: typed, isChosen: false },
        ),
    },
  ];
  return edits
    .filter(({ label }) => !label.includes(' none '))
    .toSorted((a, b) => Number(b.hint !== undefined) - Number(a.hint !== undefined));
}

/** Asks for a variable of the server, or for a header of every request. */
function askVariable(asker: Asker, draft: Draft, name: string | undefined): Promise<Draft> {
  const question = 'Which variable or header? NAME=value, or name: value';
  return asker.type(question, name === undefined ? '' : `${name}=`, (typed) => {
    const [, own = '', sign, value = ''] = /^([\w-]+)(=|:\s*)(.*)$/.exec(typed) ?? [];
    // Nothing is a way back to the question.
    if (typed === '') return draft;
    if (sign === '=') return { ...draft, way: { ...draft.way, env: { ...draft.way.env, [own]: value } } };
    if (sign !== undefined) return { ...draft, headers: { ...draft.headers, [own.toLowerCase()]: value } };
    throw new BenchError('usage', `"${typed}" is neither`, 'write NAME=value, or name: value');
  });
}

function describeWay({ folder, command }: Way): string {
  return `${joinWords(command)}${folder === '' ? '' : ` in ${folder}`}`;
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
  const [, language = 'Python', command = 'uvicorn app:app --port {port}'] =
    LANGUAGES.find(([file]) => existsSync(join(root, file))) ?? [];
  return new UsageError(
    `nothing in this ${language} project says how its server starts`,
    `name the command that starts it: --run '${command}'`,
  );
}
