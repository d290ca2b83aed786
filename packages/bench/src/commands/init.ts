/** `bench-http init`: asks how the server of a project starts, tries it, and writes the manifest that worked. */
import { lstatSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { isFolder } from 'bench-machine/files';
import { tryGit } from 'bench-machine/git';
import { holdsSecret } from 'bench-machine/redact';
import { stopPrograms } from 'bench-machine/subprocess';
import { UsageError } from 'bench-model/errors';
import { findWays, readWay } from 'bench-targets/catalogue/apps/ways';
import { joinWords, splitCommand } from 'bench-targets/catalogue/projects/words';
import { PACKAGES } from 'bench-targets/catalogue/packages';
import { refuseUnset } from 'bench-targets/catalogue/workloads/requests/compose';
import { defineCommand, flag, option, repeated } from '../cli/command.ts';
import { header, PATHS, text } from '../cli/values.ts';
import { NOTHING_WRITTEN } from '../init/attempt.ts';
import { settle } from '../init/conversation.ts';
import { checkDraft } from '../init/draft.ts';
import { makeUser, NOBODY, say } from '../init/asker.ts';
import { readTyped } from '../init/requests.ts';
import { onInterrupt } from '../terminal/shell.ts';

const init = defineCommand({
  name: 'init',
  about:
    'Asks how the server of a project starts, tries it, and writes the stack.json that worked. Each question has an option. Without a terminal, it takes the first choice of each. Changes no other file; the server that it starts may.',
  arguments: {
    terms: '[folder]',
    noun: 'folder',
    help: 'the folder of the project (default: the current one)',
    example: 'bench-http init ./my-api',
  },
  options: {
    run: option('<command>', text, {
      help: 'the command that starts the server, with {port}; PORT and HOST are set too',
      usually: 'found in the project',
    }),
    setup: option('<command>', text, {
      help: 'what runs before each start; none for nothing',
      usually: 'a migration',
    }),
    service: repeated('<name>', text, {
      help: 'what it needs: postgres, mysql, redis, or postgres=SHOP_DB with its variable; none for nothing',
      separator: /,/,
    }),
    get: repeated('<path>', text, { help: 'a path to request', separator: PATHS }),
    request: repeated('<request>', text, {
      help: `any request, with its body: 'POST /orders {"id":1}'`,
      separator: null,
    }),
    header: repeated('<name: value>', header, { help: 'a header of every request', separator: null }),
    env: repeated('<variable>', text, {
      help: 'NAME=value for the server, or a file with variables',
      separator: null,
    }),
    python: option('<version>', text, { help: 'the version of Python', usually: 'that of the project' }),
    node: option('<version>', text, { help: 'the version of Node', usually: 'that of the project' }),
    lock: option('<file>', text, {
      help: 'the lock file or requirements file',
      usually: 'the one that Bench finds',
    }),
    with: repeated('<package>', text, { help: 'a package in addition to the lock', separator: PACKAGES }),
    yes: flag({ help: 'take the first choice of each question, and run it' }),
  },
  notes:
    'Exit codes: 0 written, 1 the server does not start or respond, 2 bad usage or an\nunanswered question, 3 a toolchain is missing, 130 interrupted.',
  async run({ args: [folder = '.'], run, yes, ...asked }) {
    const root = resolve(folder);
    if (!isFolder(root)) throw new UsageError(`${folder}: not a folder`, 'name the folder of your project');
    refuseExisting(root);
    for (const [, value] of asked.header) refuseUnset(value, '--header');
    const stopping = new AbortController();
    using _ = onInterrupt(() => {
      stopping.abort();
      stopPrograms();
    }, NOTHING_WRITTEN);
    const isAsked = !yes && process.stdin.isTTY && process.stderr.isTTY;
    const { manifest, file } = await settle({
      asker: isAsked ? makeUser(stopping.signal) : NOBODY,
      root,
      ways: run === undefined ? findWays(root) : [readWay(root, run)],
      choices: asked,
      requests: [...asked.get, ...asked.request].map(readTyped),
      readChoices: (typed) => init.parse(splitCommand(typed, 'options').words),
      fileFor: refuseExisting,
      stopping,
    });
    checkDraft(manifest, file);
    writeFileSync(file, `${JSON.stringify(manifest, null, 2)}\n`, { flag: 'wx' });
    const shown = relative(process.cwd(), file);
    say('wrote', shown);
    for (const [name] of asked.header.filter(([one, value]) => holdsSecret(one, value)))
      say(
        'wrote',
        `the value of ${name} in it: to keep it out of your repository, write {env:NAME}, and set NAME`,
      );
    const words = shown === 'stack.json' ? '' : ` --stack ${joinWords([shown])}`;
    say('next', `bench-http bench${words}   what it costs and how fast it is`);
    if ((await tryGit(dirname(file), ['rev-parse', '--verify', '--quiet', 'HEAD~1'])) !== undefined)
      say('next', `bench-http compare HEAD~1 HEAD${words}   what your last commit did`);
  },
});
export default init;

/** Returns the path of the new manifest in a folder. Throws a usage error if it exists. */
function refuseExisting(folder: string): string {
  const file = join(folder, 'stack.json');
  // A link to nothing is there, too.
  if (lstatSync(file, { throwIfNoEntry: false }) === undefined) return file;
  const shown = relative(process.cwd(), file);
  throw new UsageError(
    `${shown} exists already, and init does not overwrite it`,
    'give it another name, or remove it',
  );
}
