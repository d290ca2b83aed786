/** The ways to start a server: what they are, and the places of a project that tell them. */
import type { RuntimeKind } from 'bench-model/target';

/** One way to start a server. */
export interface Start {
  /** The folder to start in, relative to that of the project; empty for itself. */
  folder: string;
  command: string[];
  env: Record<string, string>;
  build: string[][];
  /** The command that runs before each trial: migrations, for example. */
  setup?: string[];
  /** The packages that the command needs and the lock does not list. */
  packages: string[];
  language: string;
  framework: string;
  runtime: RuntimeKind;
  /** The file and its evidence for this start. */
  why: string;
  /** True for a server of development: it watches files, or says itself that it is not for production. */
  isForDevelopment: boolean;
}

/** The places that tell a start, nearest to production first: a container is that of an image, a compose file or a Procfile. */
export const PLACES = ['container', 'scripts', 'sources', 'programs'] as const;

/** What a place of a project says about its start. */
export interface Told {
  place: (typeof PLACES)[number];
  folder: string;
  why: string;
  /** The command as a shell would take it, or as words. */
  line: string | string[];
  env?: Record<string, string>;
  /** Packages that are installed beside the lock. */
  packages?: string[];
  /** Commands that run before the server. */
  before?: string[];
  /** Folders of an image, and the folders of the project that were copied there. */
  copied?: [to: string, from: string][];
  framework?: string;
}
