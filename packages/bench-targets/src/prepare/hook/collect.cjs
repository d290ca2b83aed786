// Loaded into Node servers before their own code. SIGURG, which nothing else uses, collects all garbage once, at a
// moment at which no work is pending. Costs nothing until then.
const file = process.env.BENCH_COLLECTED;

function collect() {
  const { renameSync, writeFileSync } = require('node:fs');
  const { setFlagsFromString } = require('node:v8');
  const answer = `${file}-${process.pid}`;
  try {
    // First: a server that may not write files is left alone.
    writeFileSync(`${answer}.part`, '');
    setFlagsFromString('--expose-gc');
    const gc = require('node:vm').runInNewContext('gc');
    // V8 compares its flags with those of cached code.
    setFlagsFromString('--no-expose-gc');
    gc();
    renameSync(`${answer}.part`, answer);
  } catch {
    // The server goes on as it was.
  }
}

if (file !== undefined) process.once('SIGURG', () => setImmediate(collect));
