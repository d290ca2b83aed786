/** A closed interval, in the unit of its sample. */
export interface Interval {
  low: number;
  high: number;
}
