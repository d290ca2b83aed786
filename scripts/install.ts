import {
  accessSync,
  constants,
  existsSync,
  lstatSync,
  mkdirSync,
  readlinkSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineCommand, option } from 'bench-http/cli/command';
import { text } from 'bench-http/cli/values';
import { print } from 'bench-http/terminal/shell';
import { BenchError } from 'bench-model/errors';

/** Starts this clone with the Node that pnpm has installed in it. */
const PROGRAM = join('node_modules', '.bin', 'bench-http');
const CLONE = fileURLToPath(new URL('..', import.meta.url));

const OWN = join(homedir(), '.local', 'bin');

export default defineCommand({
  name: 'install',
  about:
    'Puts bench-http on PATH, for your own projects. It is a link to this clone, so it changes with every git pull.',
  options: {
    folder: option('<folder>', text, {
      help: 'the folder of the link',
      usually: '~/.local/bin, or another one that is on PATH',
    }),
  },
  async run({ folder: named }) {
    const onPath = (process.env['PATH'] ?? '').split(delimiter);
    const usual = [OWN, join(homedir(), 'bin'), '/usr/local/bin', '/opt/homebrew/bin'];
    const folder = resolve(named ?? usual.find((one) => onPath.includes(one) && canHold(one)) ?? OWN);
    const link = join(folder, 'bench-http');
    refuseForeign(link);
    mkdirSync(folder, { recursive: true });
    rmSync(link, { force: true });
    symlinkSync(join(CLONE, PROGRAM), link);
    print(`linked  ${link}\n`);
    if (onPath.includes(folder)) print('next    bench-http init, in the folder of your project\n');
    else print(`next    add it to PATH: export PATH="${folder}:$PATH"\n`);
  },
});

/** Returns true if a link can be made in a folder; the user's own is made if it is missing. */
function canHold(folder: string): boolean {
  if (folder === OWN && !existsSync(OWN)) return true;
  try {
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** Throws a usage error if something else has the name of the link. */
function refuseForeign(link: string): void {
  const found = lstatSync(link, { throwIfNoEntry: false });
  if (found === undefined || (found.isSymbolicLink() && readlinkSync(link).endsWith(PROGRAM))) return;
  throw new BenchError(
    'usage',
    `${link} exists already, but is not a link to a clone of Bench`,
    'remove it, or name another folder: --folder',
  );
}
