/**
 * The protocol between a command and its program on another host: one JSON object per line, on stdin and stdout. The program
 * carries out one order and ends. It also ends, with its servers, when it is told to stop or its stdin ends.
 */
import type { Plan } from 'bench-model/plan';
import type { Host } from 'bench-model/host';
import type { Placement, Trial } from 'bench-model/record';
import type { LeftOut, Versions } from 'bench-model/run';

/** An order to prepare or to measure a plan on another host. */
export interface HostOrder {
  /** Makes its targets ready, or measures its trials. */
  do: 'prepare' | 'measure';
  plan: Plan;
  /** True if the user named the targets: a missing one is then an error. */
  isNamed: boolean;
}

/** Asks the program to stop its work. */
export interface StopOrder {
  do: 'stop';
}

export interface PreparedHost {
  host: Host;
  placement: Placement;
  versions: Versions;
  /** The ids of the targets that it can launch. */
  targets: string[];
  leftOut: LeftOut[];
}

/** The messages of the program on another host. */
export type HostMessage =
  | { event: 'log'; line: string }
  /** No other command measures on its machine any more. */
  | { event: 'began' }
  | { event: 'prepared'; prepared: PreparedHost }
  /** A trial, with the contents of its files by their names. */
  | { event: 'trial'; trial: Trial; files: Record<string, string> }
  | { event: 'refused'; message: string; hint?: string }
  | { event: 'done' };
