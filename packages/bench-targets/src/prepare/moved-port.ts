/** Lets a server whose sources name its port listen on another one, so that several can run at once. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { HOME } from 'bench-machine/home';
import { ToolchainError } from 'bench-model/errors';
import { run } from 'bench-machine/subprocess';
import { COMPILER } from '../catalogue/ports.ts';
import { digestOf } from './digest.ts';
import { provideFolder } from './environments.ts';
import { HOOK } from './signals.ts';

/**
 * Returns the variables by which a dynamically linked program binds to `{port}` instead of the port that it names. They reach its
 * children. Throws a toolchain error if the library cannot be compiled.
 */
export async function variablesOfMovedPort(
  port: number,
  env: Readonly<Record<string, string>>,
): Promise<Record<string, string>> {
  const source = join(HOOK, 'port.c');
  const digest = digestOf([source], process.arch);
  const folder = join(HOME.cache, 'tools', `port-${digest}`);
  const library = join(folder, 'port.so');
  const make = async () => {
    mkdirSync(folder, { recursive: true });
    await run([COMPILER, '-O2', '-shared', '-fPIC', '-o', library, source, '-ldl']).catch((error: Error) => {
      const why = `${COMPILER} cannot compile what moves its port: ${error.message}`;
      throw new ToolchainError(why, 'remove "movesPort" from the manifest');
    });
  };
  await provideFolder(folder, make);
  const preloaded = env['LD_PRELOAD'] ?? process.env['LD_PRELOAD'];
  return {
    LD_PRELOAD: [library, preloaded].filter(Boolean).join(':'),
    BENCH_PORT_FROM: String(port),
    BENCH_PORT_TO: '{port}',
  };
}
