// Shows the cause of the kinds, without a server:
//   pnpm exec node --expose-gc --allow-natives-syntax packages/bench-lab/experiments/kinds/cause.cjs
const { runInThisContext } = require('node:vm');

const readFeedback = runInThisContext('(work) => %GetFeedback(work)');
const lines = [`node ${process.versions.node}, V8 ${process.versions.v8}`];

/** Notes what V8 knows about each property that the object literal in process.nextTick defines. */
function note(when) {
  // oxlint-disable-next-line typescript/unbound-method -- V8 holds the feedback of this very function
  const slots = readFeedback(process.nextTick).filter(([kind]) => kind === 'DefineKeyedOwnPropertyInLiteral');
  const states = slots.map(([, state]) => state.split('\n', 1)[0].toLowerCase());
  lines.push(`${when.padEnd(52)} ${states.join(' ')}`);
}

function tick(count, then) {
  if (count === 0) setTimeout(() => then(), 20);
  else process.nextTick(tick, count - 1, then);
}

tick(200, () => {
  note('after 200 calls of process.nextTick');
  process.nextTick(() => {});
  globalThis.gc();
  tick(3, () => {
    note('after a full collection while one call is pending');
    globalThis.gc();
    tick(3, () => {
      note('after a full collection while none is pending');
      console.log(lines.join('\n'));
    });
  });
});
