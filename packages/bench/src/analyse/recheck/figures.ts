/** Reads the rounded numbers of autocannon back as ranges. */

/** All values that a rounded figure can represent, both ends included. */
export interface Range {
  low: number;
  high: number;
}

/** A total that autocannon rounds to whole thousands from 1,000 on. */
export interface RoundedTotal extends Range {
  /** As printed in the text: `17k`. */
  printed: string;
}

/** A size in bytes, of which autocannon keeps three digits. */
export interface RoundedBytes extends Range {
  printed: string;
}

const SPACES = /[\s'’\u00a0\u202f]/g;
const BYTE_UNITS = ['B', 'kB', 'MB', 'GB', 'TB', 'PB'];

/**
 * Parses a number with the separators of any locale: `12,345.6`, `12.345,6`, `12 345,6`. Undefined for any other text.
 * No figure in the tables has more than two decimals, so three digits after a separator are thousands.
 */
export function parseFigure(text: string): number | undefined {
  const bare = text.trim().replace(SPACES, '');
  if (!/^\d[\d.,]*$/.test(bare)) return undefined;
  const [, whole = bare, fraction = ''] = /^(.*)[.,](\d{1,2})$/.exec(bare) ?? [];
  const value = Number(`${whole.replace(/[.,]/g, '')}.${fraction}`);
  return Number.isFinite(value) ? value : undefined;
}

/** `17`, `17k` or `2M` as the range of counts that round to it. Undefined for any other text. */
export function parseTotal(text: string): RoundedTotal | undefined {
  const [, digits, unit = ''] = /^(\d[\d.,]*)([kM]?)$/.exec(text.trim()) ?? [];
  const value = digits === undefined ? undefined : parseFigure(digits);
  if (value === undefined) return undefined;
  if (unit === '') return { printed: text.trim(), low: value, high: value };
  const one = unit === 'k' ? 1000 : 1e6;
  return { printed: text.trim(), low: (value - 0.5) * one, high: (value + 0.5) * one - 1 };
}

/** `4.69 MB` as the range of byte counts that round to it. Undefined for any other text. */
export function parseBytes(text: string): RoundedBytes | undefined {
  const [, digits, prefix, binary, unit] = /^(\d[\d.]*) ?([kKMGTP]?)(i?)(B)$/.exec(text.trim()) ?? [];
  if (digits === undefined || unit === undefined) return undefined;
  const exponent = BYTE_UNITS.indexOf(`${prefix === 'K' ? 'k' : prefix}B`);
  const one = (binary === 'i' ? 1024 : 1000) ** exponent;
  const value = Number(digits);
  // Three digits are kept: half of the third is open. Trailing zeros are not printed.
  const open = value < 1 ? 0 : 10 ** (Math.floor(Math.log10(value)) - 2) / 2;
  return { printed: text.trim(), low: (value - open) * one, high: (value + open) * one };
}
