import { sep } from 'node:path';
import { findStack, type FoundTarget } from '../catalogue/found.ts';
import { claimsOfRuntime } from '../catalogue/runtimes.ts';
import { BenchError } from 'bench-model/errors';
import { lastPrinted } from 'bench-machine/subprocess';
import { HOME } from 'bench-machine/home';
import { present } from 'bench-model/options';
import type { Stack } from 'bench-model/stack';
import type { Attestation, Target } from 'bench-model/target';
import type { CodeClaim } from './imports.ts';
import { prepareProject } from './projects/index.ts';
import type { ReadyProject } from './projects/ready.ts';

/** Takes a line for the user. A terminal also shows lines that the next one replaces. */
export interface Tell {
  (line: string): void;
  showLive?: (text: string) => void;
}

/** The interval between progress lines of a long preparation where none is replaced. */
const STILL_SECONDS = 20;

/** A target that can be launched. */
export interface Prepared extends Omit<ReadyProject, 'root'>, FoundTarget {
  /** The properties that every worker must attest. */
  claims: Attestation;
  /** The code that it must run, if it runs in a copy. */
  code?: CodeClaim;
}

/** A target whose server is already running. */
interface Attached {
  target: Target;
  attached: true;
  /** A one-line description of its process. */
  version: string;
}

/** A target whose servers are available. */
export type Launchable = Prepared | Attached;

/** A target that cannot be launched here, and the reason. */
export interface Missing {
  target: Target;
  reason: string;
  hint: string;
}

/**
 * Prepares each target before anything is measured: interpreter, locked packages, builds. A target that cannot be
 * prepared becomes `missing`; the others are prepared all the same.
 */
export async function prepareAll(
  targets: Target[],
  stacks: Stack[],
  on: Tell = () => {},
): Promise<{ prepared: Prepared[]; missing: Missing[] }> {
  const prepared: Prepared[] = [];
  const missing: Missing[] = [];
  for (const target of targets) {
    on(`preparing ${target.id}`);
    try {
      using _ = reportProgress(`preparing ${target.id}`, on);
      prepared.push(await prepare(target, stacks, on));
    } catch (error) {
      if (!(error instanceof BenchError)) throw error;
      missing.push({ target, reason: error.message, hint: error.hint ?? '' });
    }
  }
  return { prepared, missing };
}

/** Groups missing targets by reason, so that each reason is reported once. */
export function groupMissing(
  missing: readonly Missing[],
): (Pick<Missing, 'reason' | 'hint'> & { targets: string[] })[] {
  const groups = Map.groupBy(missing, ({ reason, hint }) => `${reason}\n${hint}`);
  return [...groups.values()].map((group) => {
    const { reason, hint } = group[0]!;
    return { targets: group.map(({ target }) => target.id), reason, hint };
  });
}

/** Reports regularly that an operation is still in progress, and the last line of its tool, until disposed. */
export function reportProgress(doing: string, tell: Tell): Disposable {
  let seconds = 0;
  const timer = setInterval(() => {
    seconds++;
    const text = [`still ${doing}: ${seconds} s so far`, lastPrinted() ?? []].flat().join(': ');
    if (tell.showLive !== undefined) tell.showLive(text);
    else if (seconds % STILL_SECONDS === 0) tell(text);
  }, 1000);
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

async function prepare(target: Target, stacks: Stack[], on: (doing: string) => void): Promise<Prepared> {
  const found = findStack(target, stacks);
  const { stack, variant } = found;
  const { root, ...ready } = await prepareProject(found, on);
  const ofRuntime =
    stack.project !== undefined || ready.runtime === undefined ? {} : claimsOfRuntime(ready.runtime);
  const placed = { ...stack, root };
  const code = codeOf(target, placed, ready.command);
  const claims = { ...ofRuntime, ...variant.attest };
  return { target, stack: placed, variant, ...ready, claims, ...present({ code }) };
}

/** Returns the code that must run, if a target runs in a copy of its project. */
function codeOf(target: Target, stack: Stack, [program = '']: readonly string[]): CodeClaim | undefined {
  const { root: folder, original: instead, copy: from } = stack;
  if (from === undefined || instead === undefined) return undefined;
  const language = target.runtime?.kind ?? 'none';
  // It may be one of the machine that runs the code of the project, such as `java`.
  const isOwn = [folder, HOME.cache].some((one) => program.startsWith(one + sep));
  return { from, language, folder, instead, program: isOwn ? program : '' };
}
