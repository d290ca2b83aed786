/** The package as `pnpm pack` makes it, in a folder of a user. */
import { execFileSync } from 'node:child_process';
import { globSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

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
    execFileSync('npx', ['-y', 'pnpm@12', 'pack', '--pack-destination', this.folder], {
      cwd: BENCH,
      env: { ...process.env, PATH: `${TOOLS}:${process.env['PATH']}` },
      stdio: 'pipe',
    });
    const [tarball = ''] = globSync('*.tgz', { cwd: this.folder });
    this.tarball = join(this.folder, tarball);
    execFileSync('tar', ['xzf', this.tarball, '-C', this.package, '--strip-components=1']);
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
  ): { status: number; stdout: string; stderr: string } {
    const all = {
      ...process.env,
      HOME: join(this.folder, 'home'),
      XDG_STATE_HOME: join(this.folder, 'state'),
      XDG_CACHE_HOME: join(this.folder, 'cache'),
      ...env,
    };
    try {
      const options = { cwd: folder, env: all, encoding: 'utf8', stdio: 'pipe' } as const;
      const stdout = execFileSync(process.execPath, [join(this.package, 'bench-http.mjs'), ...args], options);
      return { status: 0, stdout, stderr: '' };
    } catch (error) {
      const { status, stdout, stderr } = error as { status: number; stdout: string; stderr: string };
      return { status, stdout, stderr };
    }
  }

  [Symbol.dispose](): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}
