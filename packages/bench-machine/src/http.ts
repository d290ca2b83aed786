/**
 * `node:http` as it is loaded by `require`. An import of it evaluates all its exports, among them a getter that loads the
 * library of WebSocket: 30 ms of CPU at the start of a process.
 */
export const { Agent, createServer, get, request } = process.getBuiltinModule('node:http');
