/** Numbers as people read them. Each bound is where rounding would reach the next form. */
import type { Interval } from 'bench-model/interval';
import { keyOfPlace, type Place } from 'bench-model/planned';
import type { Range } from './model/definition.ts';
import type { Unit } from 'bench-model/units';

/** The format of each unit in a column. */
export const FORMATS: Readonly<Record<Unit, (value: number) => string>> = {
  'per second': formatCount,
  µs: formatUs,
  'µs per request': formatCost,
  bytes: formatBytes,
  s: (seconds) => formatUs(seconds * 1e6),
};

/** `74,079`; below ten with one decimal. */
export function formatCount(value: number): string {
  return value < 9.95 ? value.toFixed(1) : Math.round(value).toLocaleString('en-US');
}

/** A whole number: `10,000`. */
export function formatWhole(value: number): string {
  return value.toLocaleString('en-US');
}

/** Cores with at most two decimals: `1 core`, `0.97 cores`. */
export function formatCores(count: number): string {
  return `${Number(count.toFixed(2))} ${count === 1 ? 'core' : 'cores'}`;
}

/** A number of things: `1 round`, `3 processes`. */
export function countOf(count: number, noun: string): string {
  return `${formatWhole(count)} ${noun}${count === 1 ? '' : noun.endsWith('s') ? 'es' : 's'}`;
}

/** `10 connections`, and with a request `GET /orders, 10 connections`. */
export function describePlace({ connections, route }: Place): string {
  const at = describeConnections([connections]);
  return route === undefined ? at : `${route}, ${at}`;
}

/** `fastify`, and with a request `GET /orders of fastify`. */
export function nameTarget({ target, route }: { target: string; route?: string }): string {
  return route === undefined ? target : `${route} of ${target}`;
}

/** `GET /orders of fastify at 1,000`. */
export function nameCell(cell: { target: string; connections: number; route?: string }): string {
  return `${nameTarget(cell)} at ${formatWhole(cell.connections)}`;
}

/** Groups rows for tables and charts: by place, or by connections if there is only one target. */
export function groupByPlace<Row extends Place & { target: string }>(
  rows: readonly Row[],
): { heading: string; rows: Row[] }[] {
  const isAlone = new Set(rows.map(({ target }) => target)).size < 2;
  const groups = Map.groupBy(rows, (row) => keyOfPlace(isAlone ? { connections: row.connections } : row));
  return [...groups.values()].map((own) => {
    const [{ connections, route }] = own as [Row];
    return {
      heading: describePlace({ connections, route: isAlone ? undefined : route }),
      rows: own,
    };
  });
}

/** Numbers of connections: `1 connection`, `10, 100 connections`. */
export function describeConnections(rungs: readonly number[]): string {
  return `${rungs.map(formatWhole).join(', ')} ${rungs.join() === '1' ? 'connection' : 'connections'}`;
}

/** A duration given in µs, in the unit that fits: `107 µs`, `18.8 ms`, `1.32 s`. */
export function formatUs(us: number): string {
  if (us < 999.5) return `${us < 9.95 ? us.toFixed(1) : Math.round(us)} µs`;
  if (us < 999_500) return `${formatDigits(us / 1000)} ms`;
  return `${formatDigits(us / 1e6)} s`;
}

/** CPU time of one request, in µs without the unit: `13.4`, `141`. */
export function formatCost(us: number): string {
  return us < 99.95 ? us.toFixed(1) : Math.round(us).toLocaleString('en-US');
}

/** Formats a difference with its sign, by default of two costs: `+22.0`. */
export function formatSigned(difference: number, format = formatCost): string {
  return `${difference < 0 ? '−' : '+'}${format(Math.abs(difference))}`;
}

/** Formats a difference with its interval: `+22.0 (+20.1 to +23.9)`. `margin` is half of the interval. */
export function formatMargin(difference: number, margin: number, format = formatCost): string {
  const [middle, low, high] = [difference, difference - margin, difference + margin].map((one) =>
    formatSigned(one, format),
  );
  return `${middle} (${low} to ${high})`;
}

/** `54.1 MiB`, `1.20 GiB`. */
export function formatBytes(bytes: number): string {
  const mebibytes = bytes / 2 ** 20;
  if (mebibytes < 1) return `${formatDigits(bytes / 1024)} KiB`;
  return mebibytes < 1023.5 ? `${formatDigits(mebibytes)} MiB` : `${formatDigits(mebibytes / 1024)} GiB`;
}

/** A span given in seconds: `45 s`, `12 min`, `1 h 05 min`. */
export function formatSpan(seconds: number): string {
  if (seconds < 90) return `${Math.ceil(seconds)} s`;
  const minutes = Math.ceil(seconds / 60);
  return minutes < 90
    ? `${minutes} min`
    : `${Math.floor(minutes / 60)} h ${String(minutes % 60).padStart(2, '0')} min`;
}

/** A span as it is typed: `45s`, `3m`, `1h`. */
export function formatBudget(seconds: number): string {
  if (seconds % 60 !== 0) return `${Number(seconds.toFixed(1))}s`;
  return seconds % 3600 === 0 ? `${seconds / 3600}h` : `${seconds / 60}m`;
}

/** The same, rounded up to what one would type: `90s`, `3m`, `11m`. */
export function typeBudget(seconds: number): string {
  const step = seconds <= 110 ? 10 : 60;
  return formatBudget(step * Math.ceil(seconds / step));
}

/** A ratio, with three decimals near 1: `× 0.978`, `× 2.46`, `× 10.0`. */
export function formatRatio(ratio: number): string {
  return `× ${ratio < 2 ? ratio.toFixed(3) : formatDigits(ratio)}`;
}

/** A number with three digits from 1 on: `0.97`, `2.46`, `12.3`. */
export function formatDigits(value: number): string {
  return value < 9.995 ? value.toFixed(2) : value < 99.95 ? value.toFixed(1) : String(Math.round(value));
}

/** A share in per cent, rounded down: only a full share becomes `100 %`. */
export function formatAtMost(share: number): string {
  return formatShare(Math.floor(share * 1e4) / 1e4);
}

/** A share in per cent, to two decimals: `5.4 %`. */
export function formatShare(share: number): string {
  return `${Number((share * 100).toFixed(2))} %`;
}

/** A factor as a change, which is easier to read as a multiple from 2 on: `+21 %`, `−3.2 %`, `8.0 ×`, `12 ×`. */
export function formatChange(factor: number): string {
  return factor < 2 ? formatPercent(factor) : formatTimes(factor);
}

/** A factor: `2.3 ×`, `12 ×`. */
function formatTimes(factor: number): string {
  return `${factor >= 9.95 ? formatWhole(Math.round(factor)) : factor.toFixed(1)} ×`;
}

/** The ends of a narrower interval around a smaller change would look the same with one decimal. */
const NARROW = 0.002;
const SMALL = 0.05;

/** A factor as a change with its interval, all in one unit: `+21 % (+15 % to +28 %)`, `2.1 × (2.0 × to 2.3 ×)`. */
export function formatChangeWithin(estimate: number, interval: Interval): string {
  const [change, low, high] = formatAlike(estimate, interval);
  return `${change} (${low} to ${high})`;
}

/** The same three figures, apart. */
export function formatAlike(estimate: number, { low, high }: Interval): string[] {
  const decimals = high - low < NARROW && Math.abs(estimate - 1) < SMALL ? 2 : 0;
  const inPercent = (factor: number): string => formatPercent(factor, decimals);
  return [estimate, low, high].map(estimate < 2 || low < 1 ? inPercent : formatTimes);
}

/** A factor as a change in per cent, with its sign, and at least so many decimals: `+21 %`, `−3.2 %`, `+0.04 %`. */
export function formatPercent(factor: number, decimals = 0): string {
  const percent = Math.abs(factor - 1) * 100;
  const digits = Math.max(decimals, percent >= 9.95 ? 0 : percent >= 0.095 ? 1 : 2);
  const text = percent.toFixed(digits);
  if (Number(text) === 0) return '0 %';
  return `${factor < 1 ? '−' : '+'}${Number(text).toLocaleString('en-US', { minimumFractionDigits: digits })} %`;
}

/** `2.3 to 2.6`; one figure if both ends look the same. */
export function formatRange(range: Range, format: (value: number) => string): string {
  const [least, most] = [range.least, range.most].map(format);
  return least === most ? String(least) : `${least} to ${most}`;
}
