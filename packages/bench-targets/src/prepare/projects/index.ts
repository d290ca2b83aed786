/** Makes a server program runnable: its build or its interpreter, its environment, its command. */
import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';
import { parseEnv } from 'node:util';
import { readTextFile } from 'bench-machine/files';
import { hide, literalsInEnvironment } from 'bench-machine/redact';
import type { FoundTarget } from '../../catalogue/found.ts';
import { variablesOfMovedPort } from '../moved-port.ts';
import { prepareNode } from './modules.ts';
import { prepareProgram } from './programs.ts';
import type { ReadyProject } from './ready.ts';
import { filesOfProject } from './tree.ts';
import { preparePython } from './venv.ts';

/** Prepares the project of a target: that of a user, or a stack of Bench. Throws a toolchain error if its environment cannot be made. */
export async function prepareProject(known: FoundTarget, log: (line: string) => void): Promise<ReadyProject> {
  const { target, stack } = known;
  hideSettings(stack.root);
  const ready = await (target.runtime === undefined
    ? prepareProgram(known, log)
    : target.runtime.kind === 'python'
      ? preparePython(known, target.runtime, log)
      : prepareNode(known, target.runtime, log));
  if (stack.movedPort === undefined) return ready;
  return { ...ready, env: { ...ready.env, ...(await variablesOfMovedPort(stack.movedPort, ready.env)) } };
}

/** Hides the secrets that a server finds in the `.env` files of its project, and may print. */
function hideSettings(root: string): void {
  for (const file of filesOfProject(root).filter((one) => /^\.env($|\.)/.test(basename(one)))) {
    const settings = Object.entries(parseEnv(readTextFile(file) ?? ''));
    // A password such as the name of the project, as in an example, is a word of its commands.
    const isWord = (value: string): boolean => ['', '.py'].some((end) => existsSync(join(root, value + end)));
    const set = settings.flatMap(([name, value]) =>
      value === undefined || isWord(value) ? [] : [[name, value] as const],
    );
    hide(literalsInEnvironment(Object.fromEntries(set)).map(({ value }) => value));
  }
}
