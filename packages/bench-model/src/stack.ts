import type { Draft, Locate } from './requests.ts';
import type { Attestation, RuntimeKind, StackClass } from './target.ts';

/** The connection defaults that every server shares, by their names in a manifest. */
const DEVIATIONS = ['backlog', 'keep-alive', 'nodelay'] as const;
type Deviation = (typeof DEVIATIONS)[number];

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
  /** The protocol of its port. */
  scheme: 'http' | 'https';
  attest: Attestation;
  /** The defaults of the contract that this variant deviates from; `note` says why. */
  deviates: Deviation[];
  note?: string;
}

/** The fields that most variants do not set. */
export const PLAIN_VARIANT = {
  groups: [],
  build: [],
  env: {},
  workloads: [],
  class: 'unknown',
  scheme: 'http',
  attest: {},
  deviates: [],
} satisfies Partial<Variant>;

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
  /** A file with variables of its server, relative to its folder: those that neither its manifest nor the user sets. */
  envFile?: string;
  /** The port on which it always listens; a free one is chosen for each start if absent. */
  port?: number;
  /** The port that its sources name, if Bench lets it listen on a free one instead. */
  movedPort?: number;
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

/** The files from which an environment can be made, and the tools that read them. */
export type LockKind = 'uv' | 'poetry' | 'requirements' | 'pyproject' | 'pnpm' | 'npm' | 'yarn' | 'package';

/** The dependencies of a project: the file that lists them. */
export interface Lock {
  kind: LockKind;
  /** The absolute path of the file. */
  file: string;
}

/** The project that a server program belongs to. */
export interface Project {
  kind: RuntimeKind;
  /** Absent if it has no dependencies. */
  lock?: Lock;
  /** The packages that are installed beside its lock, as its package manager takes them: `gunicorn==23.0.0`. */
  packages?: string[];
  /** The lock in the nearest folder above, if it does not list the project. */
  foreignLock?: string;
  /** The version of its runtime that it asks for, if that is not the default. */
  version?: string;
}

/** A program beside the server, and the check for its readiness. */
export interface ProgramService {
  command: string[];
  env?: Record<string, string>;
  /** A fixed port; a free one is chosen if absent. */
  port?: number;
  /** The value of `{name.url}`. */
  url?: string;
  ready?: 'tcp' | { http: string } | { command: string[] };
  per?: 'trial' | 'run';
  timeoutSeconds?: number;
}

/** The databases that a manifest can use. */
export const DATABASE_NAMES = ['postgres', 'mysql'] as const;
export type DatabaseName = (typeof DATABASE_NAMES)[number];

/** One entry of `services`: an empty database for each trial, or a program. */
export type Service = { use: DatabaseName } | ProgramService;

/** The command that runs before each trial. */
export interface Setup {
  command: string[];
  env?: Record<string, string>;
  timeoutSeconds?: number;
}

/** The surroundings of a server, as its manifest declares them. */
export interface Surroundings {
  services: Record<string, Service>;
  setup?: Setup;
}
