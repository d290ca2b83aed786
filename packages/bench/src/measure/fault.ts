/** The faults of a server that does not give the correct response. Their cures are in conduct/cures.ts. */
import { describeElsewhere, type Server } from 'bench-machine/launch';
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

/** A server with a fault. */
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
  const found = describeElsewhere(server);
  if (found === undefined) return undefined;
  const { what, text } = found;
  const faults = {
    port: { kind: 'other-port', namesPort: server.mayIgnorePort !== true },
    address: { kind: 'other-address' },
    socket: { kind: 'unix-socket' },
  } as const;
  return { fault: faults[what], text };
}
