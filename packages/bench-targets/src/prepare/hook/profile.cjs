// Loaded into Node servers that are profiled. The first SIGIO starts V8's sampling profiler, the second one stops it and
// writes the profile. Costs nothing until then.
const file = process.env.BENCH_PROFILE;
const INTERVAL_US = 500;
let session;

function turn() {
  const { renameSync, writeFileSync } = require('node:fs');
  const answer = `${file}-${process.pid}`;
  const save = (text) => {
    writeFileSync(`${answer}.part`, text);
    renameSync(`${answer}.part`, answer);
  };
  if (session !== undefined) {
    session.post('Profiler.stop', (error, result) => save(error ? '' : JSON.stringify(result.profile)));
    session.disconnect();
    session = undefined;
    return;
  }
  const { Session } = require('node:inspector');
  session = new Session();
  session.connect();
  session.post('Profiler.enable');
  session.post('Profiler.setSamplingInterval', { interval: INTERVAL_US });
  session.post('Profiler.start', () => save('started'));
}

if (file !== undefined) process.on('SIGIO', () => setImmediate(turn));
