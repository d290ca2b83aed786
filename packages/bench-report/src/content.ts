/** The content of every report: text, in reading order. */
import { listGiven } from './words.ts';

/** The content of every report format: text in cells, in reading order. */
export interface View {
  title: string;
  /** The conditions of the measurement, one fact per line. */
  setting: string[];
  /** What a short page says of it: what is compared, on what, and when, and below the figures how they were checked. */
  brief?: { setting: string[]; notes: string[] };
  columns: string[];
  /** The left-aligned columns of words; columns of figures are right-aligned. */
  words: string[];
  /** The columns that a narrow page omits, in that order. */
  expendable: string[];
  /** The columns that a page of text replaces by one line if they say the same in each row. */
  shareable?: string[];
  /** The number of first columns that each part of a table repeats, if it may be split into parts that fit. */
  repeated?: number;
  groups: { heading: string; rows: string[][] }[];
  /** Rows have no frame and no heading. */
  isPlain?: true;
  /** Separate tables: the scaling of servers, and the latency over their load, as far as they were measured. */
  beside?: SideTable[];
  /** The meaning of marks and columns, shown only if they occur, and not empty. */
  signs: Sign[];
  /** The notes that a reader needs to interpret the figures. */
  notes: string[];
  /** The outcome, and the command that comes next. */
  closing?: Closing;
}

/** Builds the view of one table without a frame. The columns of `numbers` are right-aligned in Markdown. */
export function viewTable(
  { title, columns, rows, notes }: Pick<View, 'title' | 'columns' | 'notes'> & { rows: string[][] },
  numbers: readonly string[],
): View {
  const words = columns.filter((column) => !numbers.includes(column));
  const groups = [{ heading: title, rows }];
  return { title, setting: [], columns, words, expendable: [], groups, isPlain: true, signs: [], notes };
}

/** A separate table, with its heading and what a reader must know. */
export type SideTable = Pick<View, 'title' | 'columns' | 'words' | 'expendable' | 'groups' | 'notes'>;

/** The meaning of a mark or of a column of a table. */
export interface Sign {
  /** The mark, such as `≥`. Absent if the text explains a column. */
  mark?: string;
  /** The column that is explained. Absent if the mark may occur in any. */
  column?: string;
  text: string;
}

/** The outcome of a run, and the command that comes next. */
export interface Closing {
  /** The outcome, and the purpose of the command that follows. */
  sentence: string;
  command: string;
}

/** Selects the texts of the marks and columns that a table shows. */
export function readSigns({ signs, columns, groups }: Pick<View, 'signs' | 'columns' | 'groups'>): string[] {
  const cells = groups.flatMap(({ rows }) => rows.flat());
  const shown = signs.filter(
    ({ mark, column }) =>
      (column === undefined || columns.includes(column)) &&
      // A name may have the character of a mark: shop[HEAD~1], GET /orders?limit=20.
      (mark === undefined || cells.some((cell) => cell.split(' ').some((word) => word.startsWith(mark)))),
  );
  return listGiven(shown.map(({ text }) => text));
}
