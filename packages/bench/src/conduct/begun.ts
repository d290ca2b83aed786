/** The runs that this user began on this machine. Only their plans are executed again: any other could hold any command. */
import { showPath } from 'bench-machine/files';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { writeReport, type StoredRun } from 'bench-analysis/results/store';
import { commandLine } from 'bench-machine/home';
import { readText } from 'bench-machine/procfs';
import { openState } from 'bench-machine/state';
import { UsageError } from 'bench-model/errors';
import type { Plan } from 'bench-model/plan';
import type { RunFile } from 'bench-model/run';
import { typeBench } from 'bench-report/printable';
import { joinWords } from 'bench-targets/catalogue/projects/words';

/** Notes that this command has begun a run. Throws a usage error if the state folder cannot be written. */
export function noteRun(folder: string): void {
  const notes = folderOfNotes();
  mkdirSync(notes, { recursive: true });
  // This command has just written it: it need not be validated.
  const { plan } = JSON.parse(readFileSync(join(folder, 'run.json'), 'utf8')) as RunFile;
  writeReport(notes, nameOf(folder), digestOf(plan));
}

/** Forgets a run that is about to be removed. */
export function forgetRun(folder: string): void {
  rmSync(join(folderOfNotes(), nameOf(folder)), { force: true });
}

/** Returns true for a run that this user began on this machine, in this folder and with this plan. */
export function isBegun({ folder, plan }: Pick<StoredRun, 'folder' | 'plan'>): boolean {
  return readText(join(folderOfNotes(), nameOf(folder))) === digestOf(plan);
}

/** Throws a usage error for any other run. `flag` is what would execute its plan. */
export function refuseUnknown(run: StoredRun, flag: '--resume' | '--again' | 'why'): void {
  if (isBegun(run)) return;
  const { folder, typed } = run;
  const measure = typed === undefined ? 'start a new run' : typeBench(typed, run.plan);
  throw new UsageError(
    `${showPath(folder)} is not a run that you began here, or its plan has changed since. ${flag} does not execute it`,
    `to read it: ${commandLine(joinWords(['report', showPath(folder)]))}; to measure the same: ${measure}`,
  );
}

function folderOfNotes(): string {
  return join(openState(), 'runs');
}

/** A run that was moved or copied has another name. */
function nameOf(folder: string): string {
  return digest(realpathSync(folder));
}

function digestOf(plan: Plan): string {
  return digest(JSON.stringify(plan));
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
