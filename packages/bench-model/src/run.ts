/** `run.json`: its definition, and the types derived from it. */
import { Type, type Static } from 'typebox';
import { list, mapOf, oneOf, ordinal, shape, span, text } from './definitions.ts';
import { MOST_ROUNDS } from './limits.ts';
import { plan } from './plan.ts';
import { RUN_SCHEMA } from './versions.ts';

export const versions = mapOf(Type.String(), 'The versions that a resumed run must find unchanged.');

/** The versions that a run was made with: a resumed run must find the same ones. */
export type Versions = Static<typeof versions>;

export const leftOut = shape({
  target: text(),
  reason: text(),
  hint: Type.String({ description: 'The remedy; empty if none is known.' }),
});

/** A target that was omitted from a run, and the reason. */
export type LeftOut = Static<typeof leftOut>;

export const judgedHost = shape('A host of a spread run, by its A/A trials before the first round.', {
  name: text('As records name it.'),
  verdict: oneOf(
    ['reference', 'alike', 'slower', 'faster', 'unknown'] as const,
    'Only a reference and those alike took part.',
  ),
  cpuUsPerRequest: Type.Optional(span('µs: the median of its servers')),
  ratio: Type.Optional(
    shape('Absent for the reference.', {
      estimate: span('ratio: its CPU per request ÷ that of the reference'),
      low: Type.Optional(span('ratio: the lower end of the 95 % interval')),
      high: Type.Optional(span('ratio: the upper end')),
    }),
  ),
  why: Type.Optional(text('The reason why it has no figure.')),
});

export type JudgedHost = Static<typeof judgedHost>;

export const runFile = shape({
  schema: Type.Unsafe<number>({ description: 'version: of this schema', type: 'integer', const: RUN_SCHEMA }),
  plan,
  versions,
  typed: Type.Optional(list('The words after `bench` that asked for it, without secrets.', Type.String())),
  leftOut: list('Targets that could not be launched here.', leftOut),
  stops: Type.Optional(
    list(
      'It was stopped after these rounds, which spent a part of the error.',
      ordinal('count: rounds', { maximum: MOST_ROUNDS }),
    ),
  ),
  hosts: Type.Optional(
    list('The hosts that the rounds were to be spread over.', judgedHost, { minItems: 1 }),
  ),
});

/** `run.json`. */
export type RunFile = Static<typeof runFile>;
