/** The manifest that `init` writes. */
import { basename, dirname, relative } from 'node:path';
import { nameOf } from 'bench-targets/catalogue/apps/app';
import { checkManifest } from 'bench-targets/catalogue/manifest';
import type { Need } from 'bench-targets/catalogue/apps/needs';
import type { Start } from 'bench-targets/catalogue/apps/starts';
import type { Stack } from 'bench-model/stack';
import { present } from 'bench-model/options';
import type { Written } from './requests.ts';
import type { InitChoices } from './choices.ts';

/** What is known of a server beside its start. */
interface Known extends Pick<InitChoices, 'header' | 'with' | 'lock' | 'envFile'> {
  /** The path of the manifest. */
  file: string;
  requests: Written[];
  needs: readonly Need[];
  /** How long its first right answer may take, if that is more than usual. */
  startTimeout?: number | undefined;
  version?: string | undefined;
  port?: number | undefined;
  movesPort?: boolean | undefined;
  /** Absent for plain HTTP. */
  scheme?: 'https' | undefined;
}

/** Returns the name of a project's server, with that of its manifest if it is not the usual one. */
function nameIn(root: string, file: string): string {
  const own = basename(file, '.json');
  return own === 'stack' ? nameOf(root) : `${nameOf(root)}-${nameOf(own)}`;
}

/** Returns the manifest of a project with this start, its services and its requests. */
export function makeManifest(
  root: string,
  start: Start,
  {
    file,
    requests,
    needs,
    startTimeout,
    version,
    port,
    movesPort,
    envFile,
    scheme,
    lock,
    header,
    ...choices
  }: Known,
): object {
  const services = Object.fromEntries(needs.map((need) => [need.name, need.service]));
  const env: Record<string, string> = Object.assign({}, start.env, ...needs.map((need) => need.env));
  const { command, build, setup, language, framework, runtime } = start;
  const packages = [...start.packages, ...choices.with];
  return {
    name: nameIn(root, file),
    language,
    framework,
    class: 'unknown',
    ...present({ scheme }),
    runtime,
    ...(build.length === 0 ? {} : { build }),
    ...present({ lock, version, envFile, port, movesPort }),
    ...(packages.length === 0 ? {} : { packages }),
    ...(startTimeout === undefined ? {} : { startTimeoutSeconds: startTimeout }),
    default: 'app',
    variants: { app: { command, ...(Object.keys(env).length === 0 ? {} : { env }) } },
    ...(needs.length === 0 ? {} : { services }),
    ...(setup === undefined ? {} : { setup: { command: setup } }),
    ...(header.length === 0 ? {} : { headers: Object.fromEntries(header) }),
    requests,
  };
}

/** Returns the stack of a manifest that is not written yet. Throws a usage error if it violates the contract. */
export function checkDraft(manifest: object, file: string): Stack {
  const shown = relative(process.cwd(), file);
  return checkManifest({ shown, value: manifest, at: () => shown }, dirname(file));
}
