// Loaded into Node servers before their own code. Signals that nothing else uses ask it: each has its answer in the file that a
// variable names, with the process id. Costs nothing until then.
const { BENCH_COLLECTED, BENCH_COLLECTIONS, BENCH_IMPORTS, BENCH_OWN, BENCH_PROFILE, BENCH_WAITS } =
  process.env;

const ANSWERS = [
  ['SIGURG', BENCH_COLLECTED, tellGarbage],
  ['SIGIO', BENCH_PROFILE, turnProfiler],
  [process.platform === 'darwin' ? 'SIGINFO' : 'SIGPWR', BENCH_IMPORTS, tellFiles],
  ['SIGVTALRM', BENCH_WAITS, () => save(BENCH_WAITS, JSON.stringify(tellWaits()))],
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

/** The moments that are looked at, one in each of these spans. */
const LOOKS = { count: 1000, ms: 4 };
/** The pieces of work that are remembered: what waits is among the last ones. */
const WORKS = 2 ** 18;
/** Stacks are taken of about as many waits in a second: they cost most, and in a slowed server requests wait for longer. */
const STACKS_PER_SECOND = 2000;

/** Starts to watch where requests wait. The next call stops and tells. */
let tellWaits = () => {
  tellWaits = watchWaits();
  return [];
};

/**
 * Follows each await and what ends it. The origin of a piece of work is the connection whose request caused it; 0 if none did.
 * Returns what stops and tells.
 */
function watchWaits() {
  const { createHook, executionAsyncId, executionAsyncResource } = require('node:async_hooks');
  const started = require('node:diagnostics_channel').channel('http.server.request.start');
  const began = performance.now();
  const looks = Array.from({ length: LOOKS.count }, (_, index) => {
    // Those at equal distances would be those of timers.
    return { at: began + LOOKS.ms * (index + Math.random()), requests: new Map() };
  });
  const works = Array.from({ length: WORKS });
  const workOf = (id) => (works[id % WORKS]?.id === id ? works[id % WORKS] : undefined);
  const originAt = (at) =>
    workOf(at)?.origin ?? (at > 1 && executionAsyncResource()?.constructor?.name !== 'Timeout' ? at : 0);
  // The connections of requests whose stacks are taken, drawn anew for each request.
  const [followed, counts] = [new Set(), { requests: 0, followed: 0, stacks: 0 }];
  const draw = () => {
    const most = (STACKS_PER_SECOND * (performance.now() - began)) / 1000;
    const isFollowed = Math.random() * counts.requests * counts.stacks <= most * counts.followed;
    counts.requests++;
    counts.followed += isFollowed;
    followed[isFollowed ? 'add' : 'delete'](executionAsyncId());
  };
  const hook = createHook({
    init(id, type, trigger, { _idleTimeout: delay }) {
      const at = executionAsyncId();
      const origin = type === 'HTTPINCOMINGMESSAGE' ? id : originAt(at);
      const work = { id, type, origin, on: trigger, by: 0, from: 0, to: Infinity, error: undefined };
      works[id % WORKS] = work;
      // A promise that another one triggers is that of an await, or of then.
      if (origin === 0 || (type === 'PROMISE' ? trigger === at : type !== 'Timeout')) return;
      work.from = performance.now();
      if (type === 'Timeout') work.to = work.from + delay;
      if (counts.requests > 0 && !followed.has(origin)) return;
      counts.stacks++;
      work.error = new Error('wait');
    },
    before(id) {
      const work = workOf(id);
      if (work === undefined) return;
      const { type, from, error } = work;
      const cause = type === 'PROMISE' ? workOf(workOf(work.on)?.by) : work;
      // A busy loop runs timers late: what one ends has waited until it was due.
      const to = Math.min(performance.now(), cause?.to ?? Infinity);
      Object.assign(work, { from: 0, to: from === 0 ? Infinity : to, error: undefined });
      if (from === 0) return;
      let place;
      for (let look = Math.floor((from - began) / LOOKS.ms); looks[look]?.at < to; look++) {
        if (looks[look].at < from) continue;
        place ??= error === undefined ? { key: '' } : placeOf(error.stack);
        noteWait(looks[look].requests, work, { cause, place });
      }
    },
    promiseResolve(id) {
      const work = workOf(id);
      if (work !== undefined) work.by = executionAsyncId();
    },
  });
  Error.stackTraceLimit = 40;
  hook.enable();
  started.subscribe(draw);
  return () => {
    hook.disable();
    started.unsubscribe(draw);
    const ms = LOOKS.ms * (counts.requests / counts.followed || 1);
    return looks.flatMap(({ requests }) => tellLook([...requests.values()], ms));
  };
}

/** Notes the waits of a request at one moment, as they end: it waits for the first, at the first place of its own that awaits. */
function noteWait(requests, { origin, type }, { cause: { type: ended, origin: by } = {}, place }) {
  // A socket that requests share has the origin of the first one.
  const isQueued = by !== origin && by > 0 && (ended === 'PROMISE' || ended === 'Timeout');
  const kind = isQueued ? undefined : type === 'Timeout' ? 'a timer' : 'I/O';
  const first = requests.get(origin) ?? { origin, by, kind, place };
  const isBetter = place.awaits ? !first.place.awaits : first.place.key === undefined;
  requests.set(origin, isBetter ? { ...first, place } : first);
}

/**
 * Tells the places of requests at one moment, if they are known. Those that wait for their turn do so for what lets others in and does not
 * wait itself. `ms` is the wait that each of them stands for.
 */
function tellLook(requests, ms) {
  const told = requests.filter(({ place }) => place.key);
  return told.map(({ place, kind }) => {
    const queue = requests.filter((one) => one.kind === undefined && ['', place.key].includes(one.place.key));
    const waiting = new Set(queue.map(({ origin }) => origin));
    const inside = new Set(queue.map(({ by }) => by).filter((by) => !waiting.has(by)));
    return { ...place, in: '', for: kind ?? (inside.size < 2 ? 'a lock' : 'a pool'), ms };
  });
}

const HOOK = /^.*\n(?: +at .*(?:node:internal\/async_hooks|hook\/node\.cjs):.*\n)*/;
const FRAME =
  /^ +at (?:(?:.*[. ])?<?([^. <>]+)>?(?: \[as .+\])? \()?((?:file:\/\/|node:)?[^()]*):(\d+):\d+\)?$/;

/** Returns the innermost place of a stack in the user's code, and if that is what awaits; empty if it has none. */
function placeOf(stack) {
  const { fileURLToPath } = require('node:url');
  // The timer of the date of responses.
  if (stack.includes('(node:internal/http:')) return {};
  for (const [index, frame] of stack.replace(HOOK, '').split('\n').entries()) {
    const [, name = 'anonymous', url = '', line] = FRAME.exec(frame) ?? [];
    const file = url.startsWith('file:') ? fileURLToPath(url) : url;
    if (file.startsWith(BENCH_OWN) && !file.includes('/node_modules/'))
      return { key: `${file}:${line}`, file, name, line: Number(line), awaits: index === 0 };
  }
  return {};
}
