/**
 * The code that a live server runs. It is read after the load, so that the measurement is not affected. A Python
 * server reports its modules from the handler of an unused signal; Node reports its scripts through the inspector.
 */

import { createHash } from 'node:crypto';
import { existsSync, globSync, readFileSync, realpathSync } from 'node:fs';
import { constants } from 'node:os';
import { basename, join, relative, sep } from 'node:path';
import pWaitFor from 'p-wait-for';
import { fileURLToPath } from 'node:url';
import { TrialError } from 'bench-model/errors';
import type { Attestation, RuntimeKind } from 'bench-model/target';
import type { RunningCode } from 'bench-model/record';
import type { Server } from 'bench-machine/launch';
import { familyOf, readLink } from 'bench-machine/procfs';
import { findModule } from './projects/workspace.ts';
import { askBySignal, catchesSignal, HOOK, runtimesOf } from './signals.ts';
import { findDistribution } from './uv.ts';

const SIGNAL = process.platform === 'darwin' ? 29 : 50;
const ANSWER_MS = 5000;
/** A server that does not handle signals is not waited for: its figures are right without a response. */
const RUNTIME_MS = 1000;
const POLL_MS = 20;
/** Folders of tools and of third-party packages. */
const NOT_OWN = /(^|\/)(node_modules|\.venv|venv|site-packages|__pycache__|\.git)(\/|$)/;

/** The code that a target must run, if it is that of a copy: of a package, a folder or a revision. */
export interface CodeClaim {
  /** The folder or the revision as typed. */
  from: string;
  language: RuntimeKind;
  /** The folders that may hold the code. In an environment, only the files of the package count. */
  folder: string;
  installed: { root: string; files: string[] } | undefined;
  /** The folder that must not run: the original, if the stack itself is a copy. */
  instead: string | undefined;
  /** Set for a copy of a user's project: the program of a binary. Nothing is asked of its server, so its code may be unknown. */
  project?: { program: string };
}

/** Returns the environment that lets a server report its code; `file` is the prefix of the report files. */
export function askableEnvironment(
  { language }: CodeClaim,
  env: Record<string, string>,
  file: string,
): Record<string, string> {
  if (language === 'none') return {};
  if (language === 'node') {
    // Any free port, if the inspector is switched on.
    return { NODE_OPTIONS: [env['NODE_OPTIONS'], '--inspect-port=0'].filter(Boolean).join(' ') };
  }
  return { ...hooked(env), BENCH_IMPORTS: file };
}

/** Returns the environment that lets a Python server report its GIL and its JIT; `file` is the prefix of the reports. */
export function reportingEnvironment(env: Record<string, string>, file: string): Record<string, string> {
  return { ...hooked(env), BENCH_RUNTIME: file };
}

/** Returns the environment in which a Python server loads the hook of Bench. */
export function hooked({ PYTHONPATH: path }: Record<string, string>): Record<string, string> {
  return { PYTHONPATH: [HOOK, path].filter(Boolean).join(':') };
}

/** Asks the Python processes of a server for their version, GIL and JIT. A process that does not answer is omitted. */
export async function askRuntime(
  pid: number,
  file: string,
  wake: () => Promise<unknown>,
): Promise<Attestation[]> {
  const texts = await askPython(runtimesOf(pid, 'python'), file, wake, RUNTIME_MS);
  return texts.flatMap((text) => {
    try {
      return [JSON.parse(text) as Attestation];
    } catch {
      return [];
    }
  });
}

/** Reads the code that the server has loaded from its copy. Throws what `findCode` throws. */
export async function readRunningCode(
  server: Server,
  claim: CodeClaim,
  answers: string,
  wake: () => Promise<unknown>,
): Promise<RunningCode> {
  const pid = server.pid();
  if (pid === undefined) throw new TrialError(`${claim.from}: the process of the server is unknown`);
  const told = await readFiles(pid, server, claim, { answers, wake });
  const files = [...new Set(told)].filter((file) => existsSync(file)).map((file) => realpathSync(file));
  return findCode(claim, files);
}

async function readFiles(
  pid: number,
  server: Server,
  { language, project }: CodeClaim,
  { answers, wake }: { answers: string; wake: () => Promise<unknown> },
): Promise<string[]> {
  if (language === 'none') return [...familyOf([pid])].map((one) => readLink(`/proc/${one}/exe`));
  const pids = runtimesOf(pid, language);
  const milliseconds = project === undefined ? ANSWER_MS : RUNTIME_MS;
  return language === 'python'
    ? askPython(pids, answers, wake, milliseconds)
    : askNode(pids, server, milliseconds);
}

/**
 * Returns the loaded files of a copy and their digest. Throws a trial error if the server loaded a file of the original that the copy
 * holds too. If it loaded nothing of the copy or did not report, that is an error too, except for a user's project: the result
 * then says so.
 */
export function findCode(claim: CodeClaim, files: string[]): RunningCode {
  const { from, language, folder, installed, instead, project } = claim;
  const unknown = (why: string): RunningCode => {
    if (project !== undefined) return { from, unknown: why };
    throw new TrialError(`${from}: ${why}`);
  };
  if (files.length === 0) return unknown('the server did not report which files it had loaded');
  if (language === 'none') {
    const program = project?.program ?? '';
    const isOfCopy = existsSync(program) && files.includes(realpathSync(program));
    return isOfCopy
      ? digestFiles(from, [{ file: program, name: basename(program) }])
      : unknown('no process of the server runs a program of the copy');
  }
  const copy = realpathSync(folder);
  const original = instead === undefined ? copy : realpathSync(instead);
  const packaged = new Set(installed?.files);
  const wrong = files.find(
    (file) =>
      !isOwn(file, copy) &&
      !packaged.has(file) &&
      isOwn(file, original) &&
      existsSync(join(copy, relative(original, file))),
  );
  if (wrong !== undefined) {
    throw new TrialError(
      `${from}: the server runs ${relative(process.cwd(), wrong)}, which is not in the copy`,
      'use paths relative to the project, so that each copy loads its own files',
    );
  }
  const found = [
    ...files.filter((file) => isOwn(file, copy)).map((file) => ({ file, name: relative(copy, file) })),
    ...files
      .filter((file) => packaged.has(file))
      .map((file) => ({ file, name: relative(installed?.root ?? '', file) })),
  ];
  return found.length === 0
    ? unknown('no loaded file is in the folder of the copy')
    : digestFiles(from, found);
}

/** Returns true if a file is code of this folder, and not of tools and packages inside it. */
function isOwn(file: string, root: string): boolean {
  return file.startsWith(`${root}${sep}`) && !NOT_OWN.test(relative(root, file));
}

function digestFiles(from: string, found: readonly { file: string; name: string }[]): RunningCode {
  const hash = createHash('sha256');
  for (const { file, name } of found.toSorted((a, b) => (a.name < b.name ? -1 : 1)))
    hash.update(`${name}\0`).update(readFileSync(file)).update('\0');
  return { from, files: found.length, sha256: hash.digest('hex') };
}

/** Returns the files of a Python distribution in an environment. */
export function filesOfDistribution(environment: string, name: string): CodeClaim['installed'] {
  const found = findDistribution(environment, name);
  const record = found && join(found, 'RECORD');
  if (record === undefined || !existsSync(record)) return undefined;
  const root = join(record, '..', '..');
  const files = readFileSync(record, 'utf8')
    .split('\n')
    .map((line) => line.replace(/,[^,]*,[^,]*$/, '').replaceAll('"', ''))
    .filter((path) => path !== '' && !path.includes('.dist-info/'))
    .map((path) => join(root, path));
  return toReal(root, files);
}

/** Returns the files of an npm package in an environment. */
export function filesOfModule(environment: string, name: string): CodeClaim['installed'] {
  const root = findModule(environment, name);
  if (root === undefined) return undefined;
  const files = globSync('**/*.{js,cjs,mjs,ts,cts,mts,json}', { cwd: root }).map((path) => join(root, path));
  return toReal(root, files);
}

function toReal(root: string, files: string[]): CodeClaim['installed'] {
  return {
    root: realpathSync(root),
    files: files.filter((file) => existsSync(file)).map((file) => realpathSync(file)),
  };
}

async function askPython(
  pids: number[],
  file: string,
  wake: () => Promise<unknown>,
  milliseconds = ANSWER_MS,
): Promise<string[]> {
  // An idle event loop may handle signals only after a request.
  const texts = await askBySignal(pids, { signal: SIGNAL, file, milliseconds, wake });
  return texts.flatMap((text) => text.split('\n'));
}

async function askNode(pids: number[], server: Server, milliseconds: number): Promise<string[]> {
  const files: string[] = [];
  // Without a handler, the signal would end the process.
  for (const pid of pids.filter((one) => catchesSignal(one, constants.signals.SIGUSR1))) {
    const before = inspectorsIn(server.log()).length;
    process.kill(pid, 'SIGUSR1');
    const look = () => {
      const found = inspectorsIn(server.log())[before];
      return found !== undefined && pWaitFor.resolveWith<string | undefined>(found);
    };
    const timeout = { milliseconds, fallback: () => undefined };
    const address = await pWaitFor(look, { interval: POLL_MS, timeout });
    if (address !== undefined) files.push(...(await readScripts(address)));
  }
  return files;
}

function inspectorsIn(log: string): string[] {
  return [...log.matchAll(/^Debugger listening on (ws:\/\/\S+)$/gm)].map(([, address = '']) => address);
}

/** Returns the files of all scripts that a Node process has parsed. */
function readScripts(address: string): Promise<string[]> {
  const files: string[] = [];
  const { promise, resolve } = Promise.withResolvers<string[]>();
  const socket = new WebSocket(address);
  const timer = setTimeout(() => resolve(files), ANSWER_MS);
  socket.addEventListener('open', () => socket.send('{"id":1,"method":"Debugger.enable"}'));
  socket.addEventListener('error', () => resolve(files));
  socket.addEventListener('message', ({ data }) => {
    const message = JSON.parse(String(data)) as { id?: number; method?: string; params?: { url?: string } };
    // The inspector reports all scripts before it answers.
    if (message.id === 1) resolve(files);
    const url = message.method === 'Debugger.scriptParsed' ? (message.params?.url ?? '') : '';
    if (url.startsWith('file://')) files.push(fileURLToPath(url));
    else if (url.startsWith('/')) files.push(url);
  });
  return promise.finally(() => {
    clearTimeout(timer);
    socket.close();
  });
}
