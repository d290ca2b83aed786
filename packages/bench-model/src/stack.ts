/** Stacks and their variants: what their manifests say, complete, and where they are. */
import type { Manifest, Service, Setup, WrittenVariant } from './manifest.ts';
import type { Draft, Locate } from './requests.ts';
import type { RuntimeKind } from './target.ts';

/** One way to run the application of a stack. */
export type Variant = Required<Omit<WrittenVariant, 'note'>> & Pick<WrittenVariant, 'note'>;

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
export interface Stack
  extends
    Pick<Manifest, 'name' | 'envFile' | 'port'>,
    Required<Pick<Manifest, 'language' | 'framework' | 'runtime' | 'default' | 'build' | 'runtimes'>> {
  variants: Record<string, Variant>;
  /** The absolute path of its folder. */
  root: string;
  /** The folder of the original, if it is in a copy: of a package, a folder or a revision. */
  original?: string;
  /** The path of the manifest, or of the folder of an app, as a user would type it. */
  manifest: string;
  /** The secrets that its manifest holds in plain text: place and name, such as `stack.json:12: API_TOKEN`. */
  literals?: string[];
  /** The port that its sources name, if Bench lets it listen on a free one instead. */
  movedPort?: number;
  /** The longest time to its first correct response; 30 s by default. */
  startSeconds?: number;
  /** The longest time until it is warm, in seconds of load; 40 s by default. */
  warmupSeconds?: number;
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
export type LockKind =
  | 'uv'
  | 'poetry'
  | 'requirements'
  | 'hashed'
  | 'pyproject'
  | 'pipfile'
  | 'pnpm'
  | 'npm'
  | 'yarn'
  | 'package';

/** The dependencies of a project: the file that lists them. */
export interface Lock {
  kind: LockKind;
  /** The absolute path of the file. */
  file: string;
  /** The lists that are installed with it: those of the dependency groups of a variant of Bench. */
  groups?: string[];
}

/** The project that a server program belongs to. */
export interface Project {
  kind: RuntimeKind;
  /** Absent if it has no dependencies. */
  lock?: Lock;
  /** The packages that are installed beside its lock, as its package manager takes them: `gunicorn==23.0.0`. */
  packages?: string[];
  /** The day up to which releases of packages count. */
  packagesUntil?: string;
  /** The version of its runtime that it asks for, if that is not the default. */
  version?: string;
}

/** The surroundings of a server, as its manifest declares them. */
export interface Surroundings {
  services: Record<string, Service>;
  setup?: Setup;
}
