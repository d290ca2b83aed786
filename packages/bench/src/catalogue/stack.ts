import type { Attestation, RuntimeKind, StackClass } from '../model.ts';

/** The defaults of every server's connections, as a manifest names them. */
export const DEVIATIONS = ['backlog', 'keep-alive', 'nodelay'] as const;
export type Deviation = (typeof DEVIATIONS)[number];

/** One way to run a stack's application, as its `stack.json` states it. */
export interface Variant {
  command: string[];
  /** Dependency groups of a Python stack that this variant needs besides the stack's dependencies. */
  groups: string[];
  /** What this variant alone has to have built, after the stack's own build. */
  build: string[][];
  env: Record<string, string>;
  workloads: string[];
  class: StackClass;
  attest: Attestation;
  /** Defaults of the contract that this variant does not keep; the note says why. */
  deviates: Deviation[];
  note?: string;
}

/** A server program: one folder with one `stack.json`. */
export interface Stack {
  name: string;
  language: string;
  framework: string;
  runtime: RuntimeKind;
  /** Commands (argv arrays) that run once per environment before anything is measured. */
  build: string[][];
  /** Folders, relative to its own, whose sources are built into it. */
  shares: string[];
  /** Versions of its runtime that it runs on, the one it takes unless told first; none named: on all. */
  runtimes: string[];
  default: string;
  variants: Record<string, Variant>;
  /** Absolute path of the folder. */
  root: string;
  /** The folder that its own is a copy of, by `--with`. */
  original?: string;
  /** The manifest's path as a user would type it. */
  manifest: string;
}
