import { showPath } from 'bench-machine/files';
import { findRun, readRun } from 'bench-analysis/results/store';
import { commandLine } from 'bench-machine/home';
import { hide } from 'bench-machine/redact';
import { toJson } from 'bench-report/json';
import { toModel } from 'bench-report/model/model';
import { defineCommand, flag, repeated, WAITS } from '../cli/command.ts';
import { header } from '../cli/values.ts';
import { writePage } from '../conduct/page.ts';
import { refuseUnknown } from '../conduct/begun.ts';
import { openSession } from '../conduct/session.ts';
import { findPair, pairsOf, profileRun } from '../conduct/why.ts';
import { showWhy } from '../conduct/compared.ts';
import { restoreSecrets, secretsIn } from '../plan/secrets.ts';
import { logLine, printJson, terminal } from '../terminal/shell.ts';

export default defineCommand({
  name: 'why',
  about:
    'Names the lines of your code that cause a difference. Starts fresh servers of both sides under a profiler, and prints lines and packages whose CPU per request changed. The figures of the run stay as they are.',
  arguments: {
    terms: '<run> [target...]',
    noun: 'run',
    help: 'the id of a run that you began on this machine, its folder, or latest',
    more: 'two targets of the run, by id or a part of it (default: the pairs that the run compares)',
    example: commandLine('why latest'),
  },
  options: {
    header: repeated('<name: value>', header, {
      separator: null,
      help: 'a secret header of the requests, which a stored run does not keep',
    }),
    json: flag({ help: 'print the profiles as JSON' }),
    ...WAITS,
  },
  notes: 'Exit codes: 0 done, 1 a side could not be profiled, 2 bad usage,\n130 interrupted.',
  async run({ args: [name = '', ...targets], header: headers, json, wait }) {
    const stored = readRun(findRun(name));
    refuseUnknown(stored, 'why');
    const pairs = targets.length > 0 ? [findPair(stored, targets)] : pairsOf(stored);
    const { run } = stored.plan;
    const secrets = { headers: Object.fromEntries(headers) };
    const plan = restoreSecrets(stored.plan, secrets, { flag: 'why', run });
    hide(secretsIn(plan));
    using session = await openSession(`${run} (why)`, { wait });
    const why = await profileRun({ ...stored, plan }, pairs, { session, voice: terminal });
    if (why === undefined) return 130;
    if (json) printJson(toJson(why));
    else showWhy(why);
    const model = toModel(stored, { distributions: true });
    logLine(
      `profiles saved in ${showPath(stored.folder)}; flame graph: ${showPath(await writePage(model, stored.folder))}`,
    );
    return why.missing.length > 0 ? 1 : 0;
  },
});
