import type { Attestation, RuntimeKind, StackClass } from '../model.ts';

/** One way to run a stack's application, as its `stack.json` states it. */
export interface Variant {
  command: string[];
  /** What this variant alone has to have built, after the stack's own build. */
  build: string[][];
  env: Record<string, string>;
  workloads: string[];
  class: StackClass;
  attest: Attestation;
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
  /** The manifest's path as a user would type it. */
  manifest: string;
}
