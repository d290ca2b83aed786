/** A finding in words: what servers did that their user wants to know. */
import { briefOf, meaningOf, type Reason, type ReasonCode } from 'bench-model/reasons';
import { sum } from 'bench-statistics/numbers';
import { formatWhole, nameCell } from './format.ts';
import type { ModelRow, Problem } from './model/definition.ts';

/**
 * Returns a finding of most rounds of a row in a few words, with its figure: `memory grows by 4.0 KB per response`; undefined for
 * another row.
 */
export function briefFinding(
  code: ReasonCode,
  { reasons, rounds, statuses }: Pick<ModelRow, 'reasons' | 'rounds' | 'statuses'>,
): string | undefined {
  const own = reasons.find(({ reason }) => reason.code === code);
  const isUsual = own !== undefined && own.rounds > (rounds - statuses.failed) / 2;
  return isUsual ? briefOf(own.reason) : undefined;
}

/** Findings with more texts than these are counted. */
const MOST_TEXTS = 2;

/** Describes a finding: its whole text with its rows, or how often it was found, with an example. */
export function describeFinding({ reason: { code }, places }: Problem, rows: readonly ModelRow[]): string[] {
  const found = rows.flatMap((row) =>
    row.reasons.flatMap(({ reason }): { reason: Reason; row: ModelRow }[] =>
      reason.code === code ? [{ reason, row }] : [],
    ),
  );
  const texts = [...Map.groupBy(found, ({ reason }) => reason.text)];
  if (texts.length <= MOST_TEXTS)
    return texts.map(([text, own]) => `${own.map(({ row }) => nameCell(row)).join(', ')}: ${text}.`);
  const [first] = found;
  if (first === undefined) return [];
  const count = formatWhole(sum(places.map(({ rounds }) => rounds)));
  const trials = formatWhole(sum(rows.map(({ rounds }) => rounds)));
  return [
    `In ${count} of ${trials} trials, ${meaningOf(first.reason).summary}, such as ${nameCell(first.row)}: ${first.reason.text}.`,
  ];
}
