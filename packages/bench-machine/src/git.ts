/** Git, asked without any effect on the checkout, the index, the stash or the worktree list of the user. */
import { ToolchainError } from 'bench-model/errors';
import { run, SubprocessError } from './subprocess.ts';

const STEP_MS = 300_000;

/** Variables by which a caller, such as a git hook, tells git which repository it means. */
const INHERITED =
  /^GIT_(DIR|WORK_TREE|INDEX_FILE|COMMON_DIR|OBJECT_DIRECTORY|ALTERNATE_|NAMESPACE|PREFIX|CEILING)/;

/** Settings that would start programs of the user, write to the repository, or leave files out. */
const SETTINGS = [
  'core.hooksPath=/dev/null',
  'core.fsmonitor=false',
  'core.sparseCheckout=false',
  'advice.detachedHead=false',
  'gc.auto=0',
].flatMap((setting) => ['-c', setting]);

/** Runs git in a folder and returns its output. Throws a SubprocessError if it fails, a toolchain error without git. */
export async function git(
  folder: string,
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<string> {
  const inherited = Object.entries(process.env).filter(([name]) => !INHERITED.test(name));
  const all = {
    ...Object.fromEntries(inherited),
    // Without it, git status writes what it found to the index.
    GIT_OPTIONAL_LOCKS: '0',
    GIT_TERMINAL_PROMPT: '0',
    LC_ALL: 'C',
    ...env,
  };
  try {
    const options = { cwd: folder, env: all, timeoutMs: STEP_MS };
    return (await run(['git', ...SETTINGS, ...args], options)).stdout;
  } catch (error) {
    if (error instanceof SubprocessError && error.why === 'missing')
      throw new ToolchainError('git is not on PATH, but revisions need it', 'install git');
    throw error;
  }
}

/** The same; undefined if git fails. */
export async function tryGit(folder: string, args: readonly string[]): Promise<string | undefined> {
  return git(folder, args).catch((error: unknown) => {
    if (error instanceof SubprocessError) return undefined;
    throw error;
  });
}
