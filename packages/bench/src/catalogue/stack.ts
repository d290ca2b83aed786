import type { Surroundings } from './apps/services.ts';
import type { Project } from './apps/project.ts';
import type { Draft, Locate } from './workloads/requests/compose.ts';
import type { Attestation, RuntimeKind, StackClass } from '../model.ts';

/** The connection defaults that every server shares, by their names in a manifest. */
export const DEVIATIONS = ['backlog', 'keep-alive', 'nodelay'] as const;
export type Deviation = (typeof DEVIATIONS)[number];

/** One way to run the application of a stack, as declared in its `stack.json`. */
export interface Variant {
  command: string[];
  /** The dependency groups that this variant of a Python stack adds to the dependencies of the stack. */
  groups: string[];
  /** Build commands of this variant alone. They run after those of the stack. */
  build: string[][];
  env: Record<string, string>;
  workloads: string[];
  class: StackClass | 'unknown';
  attest: Attestation;
  /** The defaults of the contract that this variant deviates from; `note` says why. */
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
  /** Folders, relative to its own, whose sources are compiled into it. */
  shares: string[];
  /** The versions of its runtime that it supports, the default first; empty if it supports all. */
  runtimes: string[];
  default: string;
  variants: Record<string, Variant>;
  /** The absolute path of its folder. */
  root: string;
  /** The folder of the original, if it is in a copy: of `--with`, `--copy` or `--rev`. */
  original?: string;
  /** The path of the manifest, or of the folder of an app, as a user would type it. */
  manifest: string;
  /** The secrets that its manifest holds in plain text: place and name, such as `stack.json:12: API_TOKEN`. */
  literals?: string[];
  /** The longest time to its first right answer; 30 s by default. */
  startSeconds?: number;
  /** The services and the setup command beside the server; only for an app of the user. */
  surroundings?: Surroundings;
  /** The name of the copy of the project that it is in; absent for the original. */
  copy?: string;
  /** The project of a user: its own lock makes the environment, and nothing is asked of its server. */
  project?: Project;
  /** The requests that the manifest asks for, instead of a workload of Bench. */
  requests?: { draft: Draft; locate: Locate };
}
