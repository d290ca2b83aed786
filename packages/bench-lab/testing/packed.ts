/** The package as `pnpm package` makes it, in a folder of a user. */
import { HOME } from 'bench-machine/home';
import {
  copyFileSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { awaitLock } from 'bench-machine/filelock';
import { runSync } from 'bench-machine/subprocess';
import { digestOf } from 'bench-targets/prepare/digest';
import { COMMAND, inheritedByUser, runToEnd, type Ended } from './user.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const BENCH = join(ROOT, 'packages/bench');
const TOOLS = join(ROOT, 'node_modules/.bin');

/** Everything that a pack reads. */
const INPUTS = [
  'LICENSE',
  'pnpm-lock.yaml',
  'pnpm-workspace.yaml',
  'tsconfig.base.json',
  'docs/{start,guides,concepts,reference,examples}/*',
  'scripts/package.ts',
  'scripts/packing/*.ts',
  'packages/bench/*.*',
  'packages/bench*/{src,page,schema}/**/*.*',
  'packages/{contract,upstream}/*.*',
  'packages/{contract,upstream}/src/**/*.*',
];

/**
 * Packs this checkout into a folder. The tarball is kept for the next test, as long as no input changes. Two packs at a
 * time would write the same `dist`, so one waits for the other.
 */
async function pack(folder: string): Promise<string> {
  const place = join(HOME.cache, 'packed');
  using _ = await awaitLock(join(place, 'lock'));
  const inputs = globSync(INPUTS, { cwd: ROOT });
  const digest = digestOf(
    inputs.map((file) => join(ROOT, file)),
    inputs.toSorted().join(),
  );
  const kept = join(place, `${digest}.tgz`);
  if (!existsSync(kept)) {
    for (const older of globSync('*.tgz', { cwd: place })) rmSync(join(place, older));
    const draft = mkdtempSync(join(place, 'draft-'));
    runSync([process.execPath, COMMAND, 'package', '--output', draft], {
      cwd: ROOT,
      env: { ...process.env, PATH: `${TOOLS}:${process.env['PATH']}` },
    });
    const [tarball = ''] = globSync('*.tgz', { cwd: draft });
    copyFileSync(join(draft, tarball), kept);
    rmSync(draft, { recursive: true });
  }
  const tarball = join(folder, 'bench-http.tgz');
  copyFileSync(kept, tarball);
  return tarball;
}

/** A folder of a user who has installed the package. */
export class Installed implements Disposable {
  readonly folder = realpathSync(mkdtempSync(join(tmpdir(), 'bench-packed-')));
  readonly package = join(this.folder, 'tools', 'node_modules', 'bench-http');

  /** Packs and unpacks. The dependencies are those of the workspace, so nothing is fetched. */
  static async create(): Promise<Installed> {
    const installed = new Installed();
    mkdirSync(installed.package, { recursive: true });
    const tarball = await pack(installed.folder);
    runSync(['tar', 'xzf', tarball, '-C', installed.package, '--strip-components=1']);
    symlinkSync(join(BENCH, 'node_modules'), join(installed.package, 'node_modules'));
    return installed;
  }

  /** Makes a project of a user. */
  makeProject(name: string): string {
    const folder = join(this.folder, name);
    mkdirSync(folder);
    return folder;
  }

  /** Runs `bench-http` in a folder. */
  run(folder: string, args: string[], env: NodeJS.ProcessEnv = {}): Ended {
    const all = {
      ...inheritedByUser(),
      HOME: join(this.folder, 'home'),
      BENCH_STATE: join(this.folder, 'state'),
      XDG_CACHE_HOME: join(this.folder, 'cache'),
      ...env,
    };
    return runToEnd([process.execPath, join(this.package, 'bench-http.mjs'), ...args], folder, all);
  }

  [Symbol.dispose](): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}
