/** Loaded before every script: plain JavaScript that any Node can read, so that an old one gets a sentence and no trace. */
const LEAST = [22, 18];

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < LEAST[0] || (major === LEAST[0] && minor < LEAST[1])) {
  process.stderr.write(
    `error: Node ${process.versions.node} is too old\n       install Node ${LEAST.join('.')} or newer\n`,
  );
  process.exit(3);
}

// Older ones strip types, but do not know `using`.
if (major < 24) await import('tsx');
else (await import('node:module')).enableCompileCache();
