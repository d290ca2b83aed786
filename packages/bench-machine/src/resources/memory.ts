/** The memory of a process tree on Linux, often enough to see it grow. */
import { forgetPeak, readPssBytes, readResident, type Process } from '../procfs.ts';
import { sum } from 'bench-statistics/numbers';

/** The time between two readings of PSS: the kernel walks all pages for it, so it takes ms for a large process. */
const PSS_INTERVAL_MS = 1000;

/** Returns the sum of the proportional set sizes in bytes; undefined if none could be read. */
export function sumPssBytes(processes: readonly Process[]): number | undefined {
  const sizes = processes.map(({ pid }) => readPssBytes(pid)).filter((size) => size !== undefined);
  return sizes.length === 0 ? undefined : sum(sizes);
}

/** A reading of PSS, with the resident sets of the same moment. */
interface Anchor {
  atMs: number;
  processes: readonly Process[];
  pssBytes: number;
  residentBytes: number;
}

/**
 * Follows the memory of one window. Once a second it reads PSS; in between, it adds the change of the resident sets, which
 * are quick to read.
 */
export class MemoryMeter {
  readonly #list: () => readonly Process[];
  /** The only process of the tree, if the kernel keeps its peak over the window. */
  readonly #alone: number | undefined;
  #anchor: Anchor | undefined;
  #peakBytes = 0;

  /** `list` returns the current processes of the tree. */
  constructor(list: () => readonly Process[]) {
    this.#list = list;
    const [first, second] = list();
    this.#alone =
      first !== undefined && second === undefined && forgetPeak(first.pid) ? first.pid : undefined;
  }

  /** Returns the memory in bytes; undefined if it cannot be read. With `exactly`, all of it is PSS. */
  read({ exactly = false } = {}): number | undefined {
    const processes = this.#list();
    const bytes = (exactly ? undefined : this.#readOn(processes)) ?? this.#readExactly(processes);
    this.#peakBytes = Math.max(this.#peakBytes, bytes ?? 0);
    return bytes;
  }

  /**
   * Returns the largest memory since the start, in bytes: of a single process the one that the kernel saw, of several
   * the largest reading. The last reading must have been exact.
   */
  peakBytes(): number {
    const { pssBytes = 0, processes = [] } = this.#anchor ?? {};
    const resident =
      this.#alone !== undefined && processes.length === 1 ? readResident(this.#alone) : undefined;
    return Math.max(
      this.#peakBytes,
      resident === undefined ? 0 : pssBytes + resident.peakBytes - resident.bytes,
    );
  }

  #readExactly(processes: readonly Process[]): number | undefined {
    const pssBytes = sumPssBytes(processes);
    this.#anchor =
      pssBytes === undefined
        ? undefined
        : { atMs: performance.now(), processes, pssBytes, residentBytes: sumResidentBytes(processes) };
    return pssBytes;
  }

  /** Continues from the last exact reading; undefined if that is old or of other processes. */
  #readOn(processes: readonly Process[]): number | undefined {
    if (this.#anchor === undefined || performance.now() - this.#anchor.atMs >= PSS_INTERVAL_MS)
      return undefined;
    const { processes: before, pssBytes, residentBytes } = this.#anchor;
    const isSame =
      processes.length === before.length && processes.every(({ pid }, at) => pid === before[at]?.pid);
    return isSame ? Math.max(0, pssBytes + sumResidentBytes(processes) - residentBytes) : undefined;
  }
}

function sumResidentBytes(processes: readonly Process[]): number {
  return sum(processes.map(({ pid }) => readResident(pid)?.bytes ?? 0));
}
