import { Module } from 'node:module';

/** The function that `require` calls. It is undocumented, and has stayed the same since Node 0.x. */
const LOAD = '_load';
type Loader = Record<typeof LOAD, (this: unknown, request: string, ...more: unknown[]) => unknown>;

/**
 * Requires modules with stand-ins for modules that they load and do not need. To load a module takes about 1 ms of CPU,
 * which every generator would pay at its start.
 */
export function loadSparing<T>(standIns: Readonly<Record<string, unknown>>, load: () => T): T {
  const loader = Module as unknown as Loader;
  const original = loader[LOAD];
  loader[LOAD] = function loadOrStandIn(request, ...more) {
    return Object.hasOwn(standIns, request) ? standIns[request] : original.call(this, request, ...more);
  };
  try {
    return load();
  } finally {
    loader[LOAD] = original;
  }
}
