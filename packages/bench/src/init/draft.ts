/** All that the manifest of a server says about its start, from the files of its project and from options. */
import { existsSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { readTextFile } from 'bench-machine/files';
import { BenchError, UsageError } from 'bench-model/errors';
import { present } from 'bench-model/options';
import type { Manifest } from 'bench-model/manifest';
import type { Stack } from 'bench-model/stack';
import { nameOf } from 'bench-targets/catalogue/projects/app';
import { findNeeds, KINDS, needOf, SERVICE_NAMES, type Need } from 'bench-targets/catalogue/apps/needs';
import { findPinned } from 'bench-targets/catalogue/projects/pinned';
import { findProject } from 'bench-targets/catalogue/projects/project';
import { findSetup } from 'bench-targets/catalogue/apps/setup';
import { findExample } from 'bench-targets/catalogue/apps/variables';
import type { Way } from 'bench-targets/catalogue/apps/ways';
import { splitCommand } from 'bench-targets/catalogue/projects/words';
import { checkManifest } from 'bench-targets/catalogue/manifest';
import { usualRuntime } from 'bench-targets/catalogue/runtimes';
import { findVersion } from 'bench-targets/prepare/projects/version';
import { refuseMissing } from '../services/declared/companion.ts';
import { say } from './asker.ts';

/** A start to try: its way, the services that it needs, and the fields of its manifest beside them. */
export interface Draft extends Omit<Partial<Manifest>, keyof Learned | 'services' | 'setup' | 'variants'> {
  way: Way;
  needs: readonly Need[];
  /** True if neither the project nor the user asks for its `version`. */
  isChosen?: boolean;
}

/** What a try has shown. */
export type Learned = Pick<Manifest, 'requests' | 'startTimeoutSeconds' | 'scheme'>;

/** Returns the manifest of a draft. `file` is its path. */
export function makeManifest(draft: Draft, learned: Learned, file: string): object {
  const { way, needs, isChosen: _, ...fields } = draft;
  const { language, runtime, build, command, setup } = way;
  const env: Record<string, string> = Object.assign({}, way.env, ...needs.map((need) => need.env));
  return withoutEmpty({
    name: nameOf(dirname(file)),
    language,
    runtime,
    build,
    variants: { app: withoutEmpty({ command, env }) },
    ...fields,
    services: Object.fromEntries(needs.map((need) => [need.name, need.service])),
    setup: setup && { command: setup },
    ...learned,
  });
}

function withoutEmpty(fields: object): object {
  const full = Object.entries(fields).filter(([, value]: [string, unknown]) =>
    typeof value === 'object' ? Object.keys(value ?? {}).length > 0 : value !== undefined,
  );
  return Object.fromEntries(full);
}

/** Returns the stack of a manifest that is not written yet. Throws a usage error if it violates the contract. */
export function checkDraft(manifest: object, file: string): Stack {
  const shown = relative(process.cwd(), file);
  return checkManifest({ shown, value: manifest, at: () => shown }, dirname(file));
}

export interface Choices {
  run?: string | undefined;
  setup?: string | undefined;
  service: readonly string[];
  header: readonly (readonly [name: string, value: string])[];
  /** NAME=value, or a file with variables. */
  env: readonly string[];
  python?: string | undefined;
  node?: string | undefined;
  lock?: string | undefined;
  with: readonly string[];
}

/** Returns the draft of a way, with what the project and the options tell. */
export async function draftOf(way: Way, root: string, choices: Choices): Promise<Draft> {
  const place = join(root, way.folder);
  if (way.isForDevelopment)
    say('warning', 'it is a development server: figures will differ from those in production');
  const needs = choices.service.length > 0 ? [] : await findInstalled(findNeeds(root, way.folder), place);
  const asked = withChoices({ way, needs }, choices);
  const hasDatabase = asked.needs.some(({ service }) => 'use' in service);
  // The addresses of its services are those that Bench gives.
  const given = new Set(asked.needs.flatMap((need) => Object.keys(need.env)));
  const env = Object.entries(asked.way.env).filter(([name]) => !given.has(name));
  const setup = choices.setup === undefined ? findSetup(root, way, hasDatabase) : asked.way.setup;
  return {
    ...asked,
    way: { ...asked.way, env: Object.fromEntries(env), setup },
    ...present({ envFile: asked.envFile ?? chooseEnvFile(place) }),
    ...(asked.version === undefined ? await chooseVersion(asked, place) : {}),
  };
}

const VARIABLE = /^\w+=/;

/** Returns a draft with what the user asks for by options. Throws a usage error for an unknown service. */
export function withChoices(draft: Draft, choices: Choices): Draft {
  const { setup, service, header, env, lock, with: packages } = choices;
  const variables = env.filter((one) => VARIABLE.test(one)).map((one) => one.split(/=(.*)/s).slice(0, 2));
  const { runtime } = draft.way;
  const version = runtime === 'none' ? undefined : choices[runtime];
  return {
    ...draft,
    way: {
      ...draft.way,
      env: { ...draft.way.env, ...(Object.fromEntries(variables) as Record<string, string>) },
      setup: setup === undefined ? draft.way.setup : readSetup(setup),
    },
    needs: service.length === 0 ? draft.needs : service.flatMap(readService),
    packages: [...(draft.packages ?? []), ...packages],
    headers: { ...draft.headers, ...Object.fromEntries(header) },
    ...present({ lock, envFile: env.find((one) => !VARIABLE.test(one)) }),
    ...(version === undefined ? {} : { version, isChosen: false }),
  };
}

/** Reads the command before each start; undefined for none. A shell runs what only a shell understands. */
export function readSetup(typed: string): string[] | undefined {
  if (typed === '' || typed === 'none') return undefined;
  return /[&|;<>$`]/.test(typed) ? ['sh', '-c', typed] : splitCommand(typed, '--setup').words;
}

/** Reads `postgres`, `postgres=SHOP_DATABASE` or `none`. */
function readService(typed: string): Need[] {
  const [name = '', variable] = typed.split('=');
  if (name === 'none') return [];
  const known = SERVICE_NAMES.find((one) => one === name);
  if (known !== undefined) return [needOf(known, variable)];
  const names = SERVICE_NAMES.join(', ');
  throw new UsageError(`--service ${typed}: unknown service`, `write one of ${names}, none`);
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
  const example = existsSync(join(place, '.env')) ? undefined : findExample(place);
  const file = example ?? '.env';
  if (example !== undefined) say('assumed', `the variables of ${example}, because there is no .env`);
  const [mode] = DEVELOPMENT.exec(readTextFile(join(place, file)) ?? '') ?? [];
  if (mode !== undefined)
    say(
      'warning',
      `${file} sets ${mode.replaceAll(/["'\s]/g, '')}: figures will differ from those in production`,
    );
  return example;
}

/** Returns the version of the runtime, if it is not that of the project: the newest Python here that has all wheels. */
async function chooseVersion({ way, lock }: Draft, place: string): Promise<Partial<Draft>> {
  const { runtime, command } = way;
  const [program = ''] = command;
  if (runtime === 'none') return {};
  if (program === 'bun' || program === 'deno') return { version: program };
  const { version: pinned, why } = findPinned(place, runtime) ?? {};
  if (pinned !== undefined) say('assumed', `${runtime} ${pinned}, by ${why}; --${runtime} names another`);
  else if (why !== undefined)
    say('left out', `${why}: Bench does not know this version; --${runtime} names one`);
  else if (runtime === 'node')
    say('assumed', `Node ${usualRuntime('node')}: the project pins none; --node names another`);
  if (pinned !== undefined || runtime === 'node') return {};
  const project = findProject(place, command, { known: 'python', named: lock });
  const { version = usualRuntime('python'), without = [] } = (await findVersion(place, project.lock)) ?? {};
  const because =
    without.length === 0 ? 'that the project admits' : `for which ${without.join(', ')} have wheels`;
  say('assumed', `Python ${version}: the newest available ${because}`);
  return { version, isChosen: true };
}
