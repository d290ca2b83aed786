/** All that the manifest of a server says about its start: each question of `init` changes a part of it. */
import { dirname, relative } from 'node:path';
import { present } from 'bench-model/options';
import type { Stack } from 'bench-model/stack';
import { nameOf } from 'bench-targets/catalogue/apps/app';
import type { Need } from 'bench-targets/catalogue/apps/needs';
import type { Way } from 'bench-targets/catalogue/apps/ways';
import { checkManifest } from 'bench-targets/catalogue/manifest';
import type { Written } from './requests.ts';

/** A start to try. */
export interface Draft {
  way: Way;
  needs: readonly Need[];
  /** The packages that the lock does not list. */
  packages: readonly string[];
  headers: Readonly<Record<string, string>>;
  lock?: string | undefined;
  /** A file with variables of the server. */
  envFile?: string | undefined;
  /** The version of its runtime, if it is not the one that the project asks for. */
  version?: string | undefined;
  /** True if neither the project nor the user asks for this version. */
  isChosen?: boolean;
  /** The day up to which releases of packages count, where no list pins them. */
  packagesUntil?: string | undefined;
  /** The port on which it always listens. */
  port?: number;
  /** True if Bench lets it listen on another one instead. */
  movesPort?: boolean;
}

/** What a try has shown. */
export interface Learned {
  requests: Written[];
  /** How long its first right answer may take, if that is more than usual. */
  startTimeoutSeconds?: number | undefined;
  /** Absent for plain HTTP. */
  scheme?: 'https' | undefined;
}

/** Returns the manifest of a draft. `file` is its path. */
export function makeManifest(draft: Draft, { requests, ...learned }: Learned, file: string): object {
  const { way, needs, packages, headers, lock, version, envFile, port, movesPort, packagesUntil } = draft;
  const { language, runtime, build, command, setup } = way;
  const env: Record<string, string> = Object.assign({}, way.env, ...needs.map((need) => need.env));
  return {
    name: nameOf(dirname(file)),
    language,
    runtime,
    ...present({ build: filled(build), lock, version, envFile, port, movesPort, packagesUntil }),
    ...present({ packages: filled(packages), ...learned }),
    variants: { app: { command, ...present({ env: filled(env) }) } },
    ...present({
      services: filled(Object.fromEntries(needs.map((need) => [need.name, need.service]))),
      setup: setup && { command: setup },
      headers: filled(headers),
    }),
    requests,
  };
}

function filled<T extends object>(map: T): T | undefined {
  return Object.keys(map).length === 0 ? undefined : map;
}

/** Returns the stack of a manifest that is not written yet. Throws a usage error if it violates the contract. */
export function checkDraft(manifest: object, file: string): Stack {
  const shown = relative(process.cwd(), file);
  return checkManifest({ shown, value: manifest, at: () => shown }, dirname(file));
}
