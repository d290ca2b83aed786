/** `run.json`: its definition, and the types derived from it. */
import { Type, type Static } from 'typebox';
import { mapOf, shape, text } from '../definitions.ts';
import { plan } from '../plan/definition.ts';
import { RUN_SCHEMA } from '../versions.ts';

export const versions = mapOf(
  Type.String(),
  "The versions that a resumed run must find unchanged: the harness's Node, and for each target its runtime and the digest of its sources.",
);

/** The versions that a run was made with: a resumed run must find the same ones. */
export type Versions = Static<typeof versions>;

export const leftOut = shape({
  target: text(),
  reason: text(),
  hint: Type.String({ description: 'The remedy; empty if none is known.' }),
});

/** A target that was omitted from a run, and the reason. */
export type LeftOut = Static<typeof leftOut>;

export const runFile = shape({
  schema: Type.Unsafe<number>({ description: 'version: of this schema', type: 'integer', const: RUN_SCHEMA }),
  plan,
  versions,
  leftOut: Type.Array(leftOut, { description: 'Targets that could not be launched here.' }),
});

/** `run.json`. */
export type RunFile = Static<typeof runFile>;

export const RUN_HEAD = {
  title: "The plan of a run, and the versions that it was made with: a run's run.json",
  description:
    'Written before the first trial and never changed: --resume continues with this plan. History: 1 (2026-11-20) first version; 2 (2026-11-22) the load mode stands beside the engine; 3 (2026-11-22) repeats replaces aaOf, undisturbed and crossOf of a target; sequentialTest is the new name of sitting; versions has the version of the load driver; 4 (2026-11-22) the request of --url is one of the requests in `asked`, and its server one of `attached`; the plan has the warm-up of each target; connectsPerSecond may be absent; 5 (2026-11-23) byTurns replaces duel: it names the rungs at which servers take turns, and the length of a turn.',
};
