/** The package as `pnpm pack` makes it, in a folder of a user. */
import { globSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runSync, SubprocessError } from '../src/machine/subprocess.ts';

const BENCH = fileURLToPath(new URL('..', import.meta.url));
const TOOLS = fileURLToPath(new URL('../../../node_modules/.bin', import.meta.url));

/** A folder of a user who has installed the package. */
export class Installed implements Disposable {
  readonly folder = realpathSync(mkdtempSync(join(tmpdir(), 'bench-packed-')));
  readonly package = join(this.folder, 'tools', 'node_modules', 'bench-http');
  readonly tarball: string;

  /** Packs and unpacks. The dependencies are those of the workspace, so nothing is fetched. */
  constructor() {
    mkdirSync(this.package, { recursive: true });
    runSync(['npx', '-y', 'pnpm@12', 'pack', '--pack-destination', this.folder], {
      cwd: BENCH,
      env: { ...process.env, PATH: `${TOOLS}:${process.env['PATH']}` },
    });
    const [tarball = ''] = globSync('*.tgz', { cwd: this.folder });
    this.tarball = join(this.folder, tarball);
    runSync(['tar', 'xzf', this.tarball, '-C', this.package, '--strip-components=1']);
    symlinkSync(join(BENCH, 'node_modules'), join(this.package, 'node_modules'));
  }

  /** Makes a project of a user. */
  makeProject(name: string): string {
    const folder = join(this.folder, name);
    mkdirSync(folder);
    return folder;
  }

  /** Runs `bench-http` in a folder. */
  run(
    folder: string,
    args: string[],
    env: NodeJS.ProcessEnv = {},
  ): { status: number | null; stdout: string; stderr: string } {
    const all = {
      ...process.env,
      HOME: join(this.folder, 'home'),
      BENCH_STATE: join(this.folder, 'state'),
      XDG_CACHE_HOME: join(this.folder, 'cache'),
      ...env,
    };
    try {
      const argv = [process.execPath, join(this.package, 'bench-http.mjs'), ...args];
      return { status: 0, ...runSync(argv, { cwd: folder, env: all }) };
    } catch (error) {
      if (!(error instanceof SubprocessError)) throw error;
      const { status, stdout, stderr } = error;
      return { status, stdout, stderr };
    }
  }

  [Symbol.dispose](): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}
