/** The faults of a server that does not give the correct response. Their cures are in conduct/cures.ts. */
import { listensElsewhere, type Server } from 'bench-machine/launch';
import { toAuthority } from 'bench-machine/ports';
import { BenchError } from 'bench-model/errors';
import type { Answer, WorkloadRequest } from 'bench-targets/catalogue/workloads/workload';

/** A fault, with the facts that its cure needs. */
export type Fault =
  /** The server ended before it answered: how, with the last error of its log. */
  | { kind: 'ended'; end: string }
  /** It listens on another port. `namesPort` is true if its command contains the right one. */
  | { kind: 'other-port'; namesPort: boolean }
  | { kind: 'other-address' }
  /** It listens on a Unix socket, and on no port. */
  | { kind: 'unix-socket' }
  /** Nothing listens at its address. */
  | { kind: 'not-listening' }
  /** It accepts connections and does not answer. */
  | { kind: 'silent' }
  /** It closes connections without a response. */
  | { kind: 'hangs-up' }
  /** It speaks TLS, and was asked without. */
  | { kind: 'tls' }
  /** It does not speak TLS, and was asked with it. */
  | { kind: 'no-tls' }
  /** It speaks HTTP/2, and not HTTP/1.1. */
  | { kind: 'http2' }
  /** Its response cannot be parsed as HTTP. */
  | { kind: 'no-http' }
  /** Its certificate is not valid. */
  | { kind: 'untrusted' }
  | { kind: 'wrong-answer'; request: WorkloadRequest; answer: Answer }
  /** It answers, and gives no token. */
  | { kind: 'refuses-login'; request: WorkloadRequest }
  /** It answered the request rightly once, and refuses it now. */
  | { kind: 'refuses-repeats'; request: WorkloadRequest };

export class FaultError extends BenchError {
  readonly fault: Fault;

  constructor(fault: Fault, message: string) {
    super('trial', message);
    this.fault = fault;
  }
}

/** A fault, and what was seen. */
export interface Seen {
  fault: Fault;
  text: string;
}

/** Finds out if a server listens elsewhere than at its own address; undefined if it does not. */
export function seeElsewhere(
  server: Pick<Server, 'host' | 'port' | 'listensOn' | 'socketPaths' | 'mayIgnorePort'>,
): Seen | undefined {
  const { host, port } = server;
  const all = listensElsewhere(server);
  if (all.length === 0) {
    const [path] = server.listensOn?.().length === 0 ? (server.socketPaths?.() ?? []) : [];
    if (path === undefined) return undefined;
    const text = `it listens on the Unix socket ${path}, not on port ${port}`;
    return { fault: { kind: 'unix-socket' }, text };
  }
  if (all.some((one) => one.port === port)) {
    const places = all.map((one) => toAuthority({ host: one.address, port: one.port })).join(', ');
    return { fault: { kind: 'other-address' }, text: `it listens on ${places}, not on ${host}:${port}` };
  }
  const ports = [...new Set(all.map((one) => one.port))].join(', ');
  const namesPort = server.mayIgnorePort !== true;
  return { fault: { kind: 'other-port', namesPort }, text: `it listens on port ${ports}, not on ${port}` };
}
