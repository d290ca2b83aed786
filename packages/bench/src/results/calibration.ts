/** A known answer and its measured figure; figures are absent when its trial failed. */
export interface Calibrated {
  name: string;
  unit: string;
  told?: number;
  measured?: number;
  /** The largest allowed difference; absent if the row is for comparison only. */
  tolerance?: number;
  inside: boolean;
}
