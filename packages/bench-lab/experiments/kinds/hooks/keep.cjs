// Keeps one object of process.nextTick alive, so that its hidden classes survive every collection.
const { createHook } = require('node:async_hooks');

const hook = createHook({
  init(_id, type, _trigger, resource) {
    if (type === 'TickObject') globalThis.keptTick ??= resource;
  },
}).enable();
process.nextTick(() => hook.disable());
