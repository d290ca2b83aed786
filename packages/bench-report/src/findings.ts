/** The findings of a run: what its servers did that their user wants to know. They take no figure away. */
import { briefOf, isFinding, REASON_CODES, summaryOf } from 'bench-model/reasons';
import type { Reason } from 'bench-model/reasons';
import type { Row } from 'bench-analysis/summary';
import { sum } from 'bench-statistics/numbers';
import { formatWhole, nameCell } from './format.ts';

type FoundRow = Pick<Row, 'target' | 'connections' | 'route' | 'rounds' | 'reasons'>;

/** A finding in a row. */
interface Found {
  reason: Reason;
  row: FoundRow;
  /** The rounds in which it was found. */
  rounds: number;
}

/** Returns the findings of rows by their codes, the weightiest code first. */
function groupFindings(rows: readonly FoundRow[]): Found[][] {
  const found = rows.flatMap((row) =>
    row.reasons.flatMap(({ reason, rounds }) => (isFinding(reason) ? [{ reason, row, rounds }] : [])),
  );
  const groups = Map.groupBy(found, ({ reason }) => reason.code);
  return REASON_CODES.flatMap((code) => {
    const own = groups.get(code);
    return own === undefined ? [] : [own];
  });
}

/**
 * Returns each finding of most rounds of a row in a few words, with its figure: `memory grows by 4.0 KB per answer`; with its row if there
 * are several.
 */
export function briefFindings(rows: readonly FoundRow[]): string[] {
  return groupFindings(rows).flatMap((all) => {
    const usual = all.filter(({ row, rounds }) => rounds > row.rounds / 2);
    const [first] = usual;
    if (first === undefined) return [];
    const others = usual.length > 1 ? ` and ${usual.length - 1} more` : '';
    const where = rows.length === 1 ? '' : `${nameCell(first.row)}${others}: `;
    return [`${where}${briefOf(first.reason)}`];
  });
}

/** Findings in more rows than these are counted. */
const MOST_ROWS = 2;

/** Describes each finding: its whole text with its rows, or how often it was found, with an example. */
export function describeFindings(rows: readonly FoundRow[]): string[] {
  const trials = formatWhole(sum(rows.map((row) => row.rounds)));
  return groupFindings(rows).flatMap((all) => {
    const texts = [...Map.groupBy(all, ({ reason }) => reason.text)];
    if (texts.length <= MOST_ROWS)
      return texts.map(([text, own]) => `${own.map(({ row }) => nameCell(row)).join(', ')}: ${text}.`);
    const [{ reason, row }] = all as [Found];
    const count = formatWhole(sum(all.map(({ rounds }) => rounds)));
    return [
      `In ${count} of ${trials} trials, ${summaryOf(reason)}, such as ${nameCell(row)}: ${reason.text}.`,
    ];
  });
}
