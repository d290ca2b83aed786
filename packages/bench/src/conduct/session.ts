/**
 * One running command on this machine. Everything that it creates outside of results and caches is first noted in the
 * user's state folder, so that the next command can remove it after a kill.
 */
import { DisposableStack } from '@whatwg-node/disposablestack';
import { orUndefined } from 'bench-model/errors';
import { lstatSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import pWaitFor from 'p-wait-for';
import { removeDatabases } from '../services/database/database.ts';
import { beginOf, holderFor, isAlive, readHolder, rewrite, type Holder } from 'bench-machine/filelock';
import { lockHost, removeDeadLock } from 'bench-machine/lock';
import { releaseMemory } from '../services/database/postgres.ts';
import { NOBODY } from '../services/database/server.ts';
import { readHierarchies, removeCgroups, removeProbes } from 'bench-machine/cgroup';
import { environHas, listPids, readNames, readProcess } from 'bench-machine/procfs';
import { isToken, makeScratchFolder, newToken } from 'bench-machine/scratch';
import { openState } from 'bench-machine/state';
import { terminal } from '../terminal/shell.ts';
import { NOTHING_YET, type Voice } from '../terminal/voice.ts';

/** The marks and rights of one command. Disposing releases everything. */
export interface Session extends Disposable {
  /** Marks every process, folder, cgroup and database of this command. */
  token: string;
  /** Makes a temporary folder that is removed with the session. */
  makeFolder(what: string): string;
  /** Notes the estimated remaining time for commands that are refused. */
  expect(seconds: number): void;
  /** Notes the server that holds databases of this command; undefined if none are left. */
  recordLeftoverServer: (server: string | undefined) => void;
}

interface Opening {
  /** True if it measures, and so must run alone. */
  isAlone?: boolean;
  /** Waits until the run that measures has ended. */
  wait?: boolean;
  voice?: Voice;
  /** The words of an interruption that no step of the command handles. */
  words?: string;
}

/** The entry of a command in the state folder. */
interface Entry extends Holder {
  /** The parent of its temporary folders. */
  temporary: string;
  cgroups: string[];
  /** The server that holds its databases. */
  database?: string;
}

/** The longest time that a killed process may take to end. */
const END_MS = 2000;
const POLL_MS = 5;

/** The owners of temporary folders: under root, the folder of a database belongs to nobody. */
const OWNERS: (number | undefined)[] = [process.geteuid?.(), ...(process.geteuid?.() === 0 ? [NOBODY] : [])];

/**
 * Opens the session of a command and removes the leftovers of killed commands. `run` is shown to commands that are refused. An
 * interruption that no step of the command handles closes the session and ends the process. Throws a usage error while another
 * command measures on this machine, unless `wait` is set.
 */
export async function openSession(
  run: string,
  { isAlone = true, wait = false, voice = terminal, words = NOTHING_YET }: Opening = {},
): Promise<Session> {
  const token = newToken();
  const state = openState();
  const { log } = voice;
  const held = new DisposableStack();
  held.use(voice.onInterrupt(() => voice.quit(() => held.dispose()), words));
  try {
    const lock = isAlone ? held.use(await lockHost({ run, token, state, wait, log })) : undefined;
    for (const line of await removeLeftovers(state)) log(line);
    const file = entryOf(state, token);
    const cgroups = readHierarchies().flatMap(({ own }) => own ?? []);
    const entry: Entry = { ...holderFor(run, token), temporary: tmpdir(), cgroups };
    rewrite(file, entry);
    held.defer(() => close(file, entry));
    return {
      token,
      makeFolder: (what) => makeScratchFolder(token, what),
      expect: (seconds) => lock?.expect(seconds),
      recordLeftoverServer(server) {
        if (server === undefined) delete entry.database;
        else entry.database = server;
        rewrite(file, entry);
      },
      [Symbol.dispose]: () => held.dispose(),
    };
  } catch (error) {
    held.dispose();
    throw error;
  }
}

function close(file: string, entry: Entry): void {
  try {
    removeFolders(entry);
    // Leftovers stay noted: databases to drop, and folders that another process still writes to.
    if (entry.database === undefined) rmSync(file, { force: true });
  } catch {
    // The next command removes them.
  }
}

/** Removes the leftovers of killed commands, identified only by their tokens. Returns their descriptions. */
export async function removeLeftovers(state: string): Promise<string[]> {
  removeProbes((pid) => beginOf(pid) !== undefined);
  removeDrafts(state);
  removeDeadLock(state);
  const removed: string[] = [];
  for (const entry of readEntries(state)) {
    if (isAlive(entry)) continue;
    const databases = await removeDatabases(entry);
    removed.push(...(await endProcesses(entry)), ...removeFolders(entry), ...databases.lines);
    if (!databases.isOwed) rmSync(entryOf(state, entry.token), { force: true });
  }
  return removed;
}

/** Removes the unfinished files of a killed process. */
function removeDrafts(state: string): void {
  for (const name of readNames(state)) {
    const pid = /\.(\d+)\.new$/.exec(name)?.[1];
    if (pid !== undefined && beginOf(Number(pid)) === undefined) rmSync(join(state, name), { force: true });
  }
}

function entryOf(state: string, token: string): string {
  return join(state, `${token}.json`);
}

function readEntries(state: string): Entry[] {
  return readNames(state).flatMap((name) => {
    const [token, end] = name.split('.');
    if (!isToken(token) || end !== 'json') return [];
    const file = entryOf(state, token);
    const holder = readHolder(file);
    if (holder === undefined || holder === 'absent' || holder.token !== token) return [];
    const { temporary, cgroups, database } = JSON.parse(readFileSync(file, 'utf8')) as Partial<Entry>;
    return [
      {
        ...holder,
        temporary: typeof temporary === 'string' && isAbsolute(temporary) ? temporary : tmpdir(),
        cgroups: Array.isArray(cgroups) ? cgroups.filter((folder) => typeof folder === 'string') : [],
        ...(typeof database === 'string' ? { database } : {}),
      },
    ];
  });
}

/** Removes the folders with the token of a command in their names. */
function removeFolders({ run, pid, token, temporary }: Entry): string[] {
  const names = readNames(temporary).filter(
    (name) => /^bench-[a-z]+-/.test(name) && name.endsWith(`-${token}`),
  );
  return names.flatMap((name) => {
    const folder = join(temporary, name);
    // In a folder that everybody can write to, another user may have taken the name.
    if (!OWNERS.includes(lstatSync(folder, { throwIfNoEntry: false })?.uid)) return [];
    releaseMemory(folder);
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
    return pid === process.pid ? [] : [`run ${run} had been killed and left ${folder}: removed it`];
  });
}

async function endProcesses({ run, token, cgroups }: Entry): Promise<string[]> {
  if (process.platform !== 'linux') return [];
  const own = listPids().filter((pid) => pid !== process.pid && environHas(pid, 'BENCH_TOKEN', token));
  const names = own.map((pid) => `${pid} ${readProcess(pid)?.command ?? ''}`.trimEnd());
  for (const pid of own) {
    // It may have ended already.
    orUndefined(() => process.kill(pid, 'SIGKILL'));
  }
  const timeout = { milliseconds: END_MS, fallback: () => {} };
  const haveEnded = (): boolean => own.every((pid) => beginOf(pid) === undefined);
  // The kernel releases the last process shortly after it has ended.
  await pWaitFor(() => haveEnded() && removeCgroups(token, cgroups), { interval: POLL_MS, timeout });
  return own.length === 0
    ? []
    : [
        `run ${run} had been killed and left ${own.length} processes running: ended them (${names.join(', ')})`,
      ];
}
