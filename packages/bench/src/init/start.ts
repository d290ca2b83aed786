/** The first draft of a way to start: with what the project's files and the options of `init` tell. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { readTextFile } from 'bench-machine/files';
import { BenchError } from 'bench-model/errors';
import { findNeeds, KINDS, type Need } from 'bench-targets/catalogue/apps/needs';
import { findPinned, findUnreadPin } from 'bench-targets/catalogue/apps/pinned';
import { findProject } from 'bench-targets/catalogue/apps/project';
import { findSetup } from 'bench-targets/catalogue/apps/setup';
import { findExample } from 'bench-targets/catalogue/apps/variables';
import type { Way } from 'bench-targets/catalogue/apps/ways';
import { joinWords, splitCommand } from 'bench-targets/catalogue/apps/words';
import { usualRuntime } from 'bench-targets/catalogue/runtimes';
import { findVersion } from 'bench-targets/prepare/projects/version';
import { refuseMissing } from '../services/declared/companion.ts';
import { say } from './asker.ts';
import type { Draft } from './draft.ts';

/** What the user asks for by options. */
export interface Choices {
  setup?: string | undefined;
  services: readonly Need[] | undefined;
  requests: readonly string[];
  headers: Readonly<Record<string, string>>;
  env: Readonly<Record<string, string>>;
  envFile?: string | undefined;
  python?: string | undefined;
  node?: string | undefined;
  lock?: string | undefined;
  packages: readonly string[];
}

/** Returns the draft of a way, with what the project and the options tell. */
export async function draftOf(way: Way, root: string, choices: Choices): Promise<Draft> {
  const place = join(root, way.folder);
  const { headers, lock, packages } = choices;
  if (way.isForDevelopment)
    say('warning', 'it is a development server: figures will differ from those in production');
  const needs = choices.services ?? (await findInstalled(findNeeds(root, way.folder), place));
  const hasDatabase = needs.some(({ service }) => 'use' in service);
  const setup = choices.setup === undefined ? findSetup(root, way, hasDatabase) : readSetup(choices.setup);
  // The addresses of its services are those that Bench gives.
  const given = new Set(needs.flatMap((need) => Object.keys(need.env)));
  const env = Object.fromEntries(Object.entries(way.env).filter(([name]) => !given.has(name)));
  return {
    way: withSetup({ ...way, env: { ...env, ...choices.env } }, setup),
    needs,
    packages,
    headers,
    lock,
    envFile: choices.envFile ?? chooseEnvFile(place),
    ...(await chooseVersion(way, place, choices)),
  };
}

/** Returns a way with another command before each start, or none. */
export function withSetup(way: Way, setup: string[] | undefined): Way {
  const { setup: _, ...rest } = way;
  return setup === undefined ? rest : { ...rest, setup };
}

/** Returns a command before each start as the user types it. */
export function typedSetup(setup: readonly string[] = []): string {
  return setup[0] === 'sh' && setup[1] === '-c' ? (setup[2] ?? '') : joinWords(setup);
}

/** Reads the command before each start; undefined for none. A shell runs what only a shell understands. */
export function readSetup(typed: string): string[] | undefined {
  if (typed === '' || typed === 'none') return undefined;
  return /[&|;<>$`]/.test(typed) ? ['sh', '-c', typed] : splitCommand(typed, '--setup').words;
}

/** Returns the needs whose programs this machine has, and says how to get the others. */
async function findInstalled(needs: readonly Need[], place: string): Promise<Need[]> {
  const installed: Need[] = [];
  for (const need of needs) {
    try {
      await refuseMissing(need.name, need.service, place);
      say('found', `${need.why}, so ${KINDS[need.name].title} is tried`);
      installed.push(need);
    } catch (error) {
      if (!(error instanceof BenchError)) throw error;
      say('left out', `${need.why}: ${error.message}; ${error.hint}`);
    }
  }
  return installed;
}

/** A variable by which a server is told that it is under development. */
const DEVELOPMENT = /^\w*(?:ENV|ENVIRONMENT)\s*=\s*["']?dev\w*|^\w*DEBUG\s*=\s*["']?(?:true|on|1)\b/im;

/** Returns the example whose variables the server gets because it has no `.env`; undefined if it needs none. */
function chooseEnvFile(place: string): string | undefined {
  const file = existsSync(join(place, '.env')) ? '.env' : findExample(place);
  if (file === undefined) return undefined;
  if (file !== '.env') say('assumed', `the variables of ${file}, because there is no .env`);
  const mode = DEVELOPMENT.exec(readTextFile(join(place, file)) ?? '')?.[0].replaceAll(/["'\s]/g, '');
  if (mode !== undefined)
    say('warning', `${file} sets ${mode}: figures will differ from those in production`);
  return file === '.env' ? undefined : file;
}

type Version = Pick<Draft, 'version' | 'isChosen'>;

/** Returns the version of the runtime: that of the user, of the project, or the newest here that has all wheels. */
async function chooseVersion({ runtime, command }: Way, place: string, choices: Choices): Promise<Version> {
  if (runtime === 'none') return {};
  const [program = ''] = command;
  if (program === 'bun' || program === 'deno') return { version: program };
  const named = choices[runtime];
  if (named !== undefined) return { version: named };
  const unread = findUnreadPin(place, runtime);
  if (unread !== undefined)
    say('left out', `${unread}: Bench does not know this version; --${runtime} names one`);
  const pinned = findPinned(place, runtime);
  if (pinned !== undefined) {
    say('assumed', `${runtime} ${pinned.version}, by ${pinned.why}; --${runtime} names another`);
    return {};
  }
  if (runtime === 'node') return {};
  const { lock } = findProject(place, command, { known: 'python', named: choices.lock });
  const { version = usualRuntime('python'), without = [] } = (await findVersion(place, lock)) ?? {};
  const why =
    without.length === 0 ? 'that the project admits' : `for which ${without.join(', ')} have wheels`;
  say('assumed', `Python ${version}: the newest available ${why}`);
  return { version, isChosen: true };
}
