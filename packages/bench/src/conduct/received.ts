/** Runs that somebody else has made: what their plans would execute, and the question before it. */
import { join } from 'node:path';
import { writeReport, readRunFile, type StoredRun } from 'bench-analysis/results/store';
import { HOME } from 'bench-machine/home';
import { readText } from 'bench-machine/procfs';
import { redactUrl } from 'bench-machine/redact';
import { isSealed, sealOf } from 'bench-machine/seal';
import { BenchError } from 'bench-model/errors';
import type { Plan } from 'bench-model/plan';
import { joinWords } from 'bench-targets/catalogue/apps/words';
import { confirm } from '../terminal/ask.ts';
import { logLine } from '../terminal/shell.ts';

/** The file beside a run that proves who made its plan. */
const SEAL = 'seal';

/** Notes that this user has made a run, or has agreed to its commands. */
export function sealRun(folder: string): void {
  let seal: string;
  try {
    seal = sealOf(textOf(folder), HOME.cache);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).errno === undefined) throw error;
    logLine(`warning: --resume and --again will ask about this run: ${(error as Error).message}`);
    return;
  }
  writeReport(folder, SEAL, `${seal}\n`);
}

/** The plan as it is stored, but for the rounds after which it was stopped, which every continuation changes. */
function textOf(folder: string): string {
  const { stops: _, ...plan } = readRunFile(folder).plan;
  return JSON.stringify(plan);
}

function isOwn(folder: string): boolean {
  const seal = readText(join(folder, SEAL))?.trim();
  return seal !== undefined && isSealed(textOf(folder), seal, HOME.cache);
}

/**
 * Lets a run of this user pass. Lists what the plan of any other run would execute, and asks whether to go on. Throws a
 * usage error if the answer is no, or if there is no terminal to ask on. `isAgreed` is the answer yes.
 */
export async function confirmReceived({ folder, plan }: StoredRun, isAgreed: boolean): Promise<void> {
  if (isOwn(folder)) return;
  logLine(`run ${plan.run} was not made by you on this machine. It would:`);
  for (const line of describeDeeds(plan)) logLine(`  ${line}`);
  if (isAgreed) return;
  const goesOn = await confirm('go on?');
  if (goesOn === undefined)
    throw new BenchError(
      'usage',
      `run ${plan.run}: cannot ask whether to execute this: there is no terminal`,
      'if you trust it, add --trust',
    );
  if (!goesOn) throw new BenchError('usage', `run ${plan.run} was not executed`);
}

/** Lists what a plan executes, installs, reads and loads. */
function describeDeeds({
  apps = [],
  stacks,
  targets,
  attached = [],
  userRequests,
  cluster,
  spread,
}: Plan): string[] {
  const packages = new Set(targets.flatMap((target) => target.packages ?? []));
  const { rows, files = {} } = userRequests ?? {};
  const sent = [...(rows === undefined ? [] : [rows.file]), ...Object.keys(files)];
  return [
    ...apps.map(({ folder, command, env = {} }) => {
      const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);
      return `execute in ${folder}: ${joinWords([...variables, ...command])}`;
    }),
    ...stacks.map((manifest) => `execute the commands in ${manifest}`),
    ...(apps.length + stacks.length + attached.length === 0 ? ['execute built-in stacks'] : []),
    ...[...packages].map((name) => `install ${name}`),
    ...attached.map(({ url }) => `send requests to ${redactUrl(url)}`),
    ...sent.map((file) => `send what is in ${file}`),
    ...((cluster ?? spread) === undefined ? [] : ['start programs on other hosts']),
  ];
}
