// Loaded into Node servers before their own code. Signals that nothing else uses ask it: each has its answer in the file that a
// variable names, with the process id. Costs nothing until then.
const { BENCH_COLLECTED, BENCH_COLLECTIONS, BENCH_IMPORTS, BENCH_PROFILE } = process.env;

const ANSWERS = [
  ['SIGURG', BENCH_COLLECTED, tellGarbage],
  ['SIGIO', BENCH_PROFILE, turnProfiler],
  [process.platform === 'darwin' ? 'SIGINFO' : 'SIGPWR', BENCH_IMPORTS, tellFiles],
];
for (const [signal, file, answer] of ANSWERS)
  if (file !== undefined) process.on(signal, () => setImmediate(() => answer()));

/** Writes an answer, which appears at once and complete. */
function save(file, text) {
  const { renameSync, writeFileSync } = require('node:fs');
  const path = `${file}-${process.pid}`;
  writeFileSync(`${path}.part`, text);
  renameSync(`${path}.part`, path);
}

function inspect() {
  const { Session } = require('node:inspector');
  const session = new Session();
  session.connect();
  return session;
}

let report;

/**
 * Collects all garbage once, at a moment at which no work is pending. From then on collections are noted if they are asked for, and
 * each further signal writes them.
 */
function tellGarbage() {
  try {
    if (report === undefined) collect();
    else report();
  } catch {
    // The server goes on as it was.
  }
}

function collect() {
  const { setFlagsFromString } = require('node:v8');
  // First: a server that may not write files is left alone.
  require('node:fs').writeFileSync(`${BENCH_COLLECTED}-${process.pid}.part`, '');
  setFlagsFromString('--expose-gc');
  const gc = require('node:vm').runInNewContext('gc');
  // V8 compares its flags with those of cached code.
  setFlagsFromString('--no-expose-gc');
  gc();
  report = BENCH_COLLECTIONS === undefined ? () => {} : observe();
  save(BENCH_COLLECTED, '');
}

/** Observes the collections from now on. Returns what writes them. */
function observe() {
  const { PerformanceObserver } = require('node:perf_hooks');
  const taken = [];
  const observer = new PerformanceObserver((list) => taken.push(...list.getEntries()));
  observer.observe({ entryTypes: ['gc'] });
  return () => {
    taken.push(...observer.takeRecords());
    const ms = taken.reduce((sum, { duration }) => sum + duration, 0);
    save(BENCH_COLLECTIONS, JSON.stringify({ count: taken.length, ms }));
  };
}

const INTERVAL_US = 500;
let profiling;

/** Starts the sampling profiler of V8, or stops it and writes the profile. */
function turnProfiler() {
  if (profiling === undefined) {
    profiling = inspect();
    profiling.post('Profiler.enable');
    profiling.post('Profiler.setSamplingInterval', { interval: INTERVAL_US });
    profiling.post('Profiler.start', () => save(BENCH_PROFILE, 'started'));
    return;
  }
  profiling.post('Profiler.stop', (error, result) =>
    save(BENCH_PROFILE, error ? '' : JSON.stringify(result.profile)),
  );
  profiling.disconnect();
  profiling = undefined;
}

/** Writes the files of all scripts that V8 has parsed. */
function tellFiles() {
  const { fileURLToPath } = require('node:url');
  const files = new Set();
  const session = inspect();
  session.on('Debugger.scriptParsed', ({ params: { url } }) => {
    if (url.startsWith('file://')) files.add(fileURLToPath(url));
    else if (url.startsWith('/')) files.add(url);
  });
  // The inspector reports all scripts before it answers.
  session.post('Debugger.enable', () => save(BENCH_IMPORTS, [...files].join('\n')));
  session.disconnect();
}
