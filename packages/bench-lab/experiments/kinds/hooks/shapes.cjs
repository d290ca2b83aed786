// SIGUSR2 prints what V8 knows about the object literal in process.nextTick. Needs --allow-natives-syntax.
const { runInThisContext } = require('node:vm');

const readFeedback = runInThisContext('(work) => %GetFeedback(work)');

process.on('SIGUSR2', () => {
  // oxlint-disable-next-line typescript/unbound-method -- V8 holds the feedback of this very function
  const slots = readFeedback(process.nextTick).filter(([kind]) => kind === 'DefineKeyedOwnPropertyInLiteral');
  console.log(`shapes ${slots.map(([, state]) => state.split('\n', 1)[0]).join(' ')}`);
});
