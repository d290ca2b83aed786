/** A way to start a server, and what a place of a project says about it. */
import type { RuntimeKind } from 'bench-model/target';

/** One way to start a server. */
export interface Way {
  /** The folder to start in, relative to that of the project; empty for itself. */
  folder: string;
  command: string[];
  env: Record<string, string>;
  build: string[][];
  /** The command that runs before each trial: migrations, for example. */
  setup?: string[] | undefined;
  language: string;
  runtime: RuntimeKind;
  /** The file and its evidence for this way. */
  why: string;
  /** True for a server of development. */
  isForDevelopment: boolean;
}

/** What a place of a project says about its start. */
export interface Told extends Partial<Pick<Way, 'folder' | 'env' | 'build' | 'setup' | 'language'>> {
  /** The command, which may be a line for a shell. */
  words: string[];
  /** The file and its evidence, relative to the folder. */
  why: string;
  /** True if it was written for the file system of a container: only the command that it ends in counts. */
  isForeign?: boolean;
}
