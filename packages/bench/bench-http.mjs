#!/usr/bin/env node
import { existsSync } from 'node:fs';

// Plain JavaScript that any Node can read, so that an old one gets a sentence and no trace.
const LEAST = [22, 18];

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < LEAST[0] || (major === LEAST[0] && minor < LEAST[1])) {
  process.stderr.write(
    `error: bench-http does not run on Node ${process.versions.node}\n       install Node ${LEAST.join('.')} or newer\n`,
  );
  process.exit(3);
}

try {
  process.cwd();
} catch {
  process.stderr.write('error: the current folder no longer exists\n       go to another one: cd ~\n');
  process.exit(2);
}

// The package holds JavaScript, the repository only the sources.
const isSource = existsSync(new URL('src', import.meta.url));
// Older ones strip types, but do not know `using`.
if (isSource && major < 24) await import('tsx');
else (await import('node:module')).enableCompileCache();
const { main } = await import(isSource ? './src/cli/main.ts' : './dist/bench/src/cli/main.js');
process.exitCode = await main(process.argv.slice(2));
