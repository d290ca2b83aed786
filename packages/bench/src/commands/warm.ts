import { randomInt } from 'node:crypto';
import { readStacks } from 'bench-targets/catalogue/stacks';
import { WARM } from '../cli/commands.ts';
import { makePlan, nameRun } from '../plan/plan.ts';
import { renderTerminal } from 'bench-report/terminal';
import { renderStudyJson, viewStudies } from 'bench-report/warm';
import { shown } from 'bench-analysis/results/store';
import { openSession } from './session.ts';
import { createRunner, layoutFor, logLine, printJson, printStyled, terminal } from './shell.ts';
import { measureStudy } from './study.ts';

/** The part of the processes of a target that may be replaced by others. */
const SPARE_SHARE = 1 / 2;

export const runWarm = createRunner(WARM, async ({ options, seconds, wait, json }) => {
  const run = nameRun('warm');
  const plan = makePlan(options, readStacks(options.stacks), run, options.seed ?? randomInt(2 ** 32));
  using session = await openSession(run, { wait });
  const isNamed = !options.targets.some((pattern) => pattern.includes('*'));
  const spare = Math.floor(plan.rounds * SPARE_SHARE);
  const job = { plan, seconds, spare, session, isNamed, voice: terminal };
  const { study, interrupted } = await measureStudy(job);
  if (json) printJson(renderStudyJson(study));
  else printStyled(renderTerminal(viewStudies([study]), layoutFor({ isBrief: false })));
  logLine(`saved in ${shown(study.folder)}`);
  if (interrupted) return 130;
  return study.processes.some(({ status }) => status === 'failed') ? 1 : 0;
});
