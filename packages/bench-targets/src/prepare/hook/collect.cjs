// Loaded into Node servers before their own code. The first SIGURG, which nothing else uses, collects all garbage once, at
// a moment at which no work is pending. From then on collections are noted if they are asked for, and each further
// SIGURG writes them. Costs nothing until the first.
const collected = process.env.BENCH_COLLECTED;
const collections = process.env.BENCH_COLLECTIONS;
let report;

function save(file, text) {
  const { renameSync, writeFileSync } = require('node:fs');
  const path = `${file}-${process.pid}`;
  writeFileSync(`${path}.part`, text);
  renameSync(`${path}.part`, path);
}

function collect() {
  const { setFlagsFromString } = require('node:v8');
  // First: a server that may not write files is left alone.
  require('node:fs').writeFileSync(`${collected}-${process.pid}.part`, '');
  setFlagsFromString('--expose-gc');
  const gc = require('node:vm').runInNewContext('gc');
  // V8 compares its flags with those of cached code.
  setFlagsFromString('--no-expose-gc');
  gc();
  report = collections === undefined ? () => {} : observe();
  save(collected, '');
}

/** Observes the collections from now on. Returns what writes them. */
function observe() {
  const { PerformanceObserver } = require('node:perf_hooks');
  let [count, ms] = [0, 0];
  const take = (entries) => {
    for (const { duration } of entries) {
      count++;
      ms += duration;
    }
  };
  const observer = new PerformanceObserver((list) => take(list.getEntries()));
  observer.observe({ entryTypes: ['gc'] });
  return () => {
    take(observer.takeRecords());
    save(collections, JSON.stringify({ count, ms }));
  };
}

function answer() {
  try {
    if (report === undefined) collect();
    else report();
  } catch {
    // The server goes on as it was.
  }
}

if (collected !== undefined) process.on('SIGURG', () => setImmediate(answer));
