/** The parts of autocannon 9.0.0 that the driver uses. */
import type { EventEmitter } from 'node:events';
import { createRequire } from 'node:module';
import type { Socket } from 'node:net';
import { requireWithout } from 'bench-model/modules';
import type { RequestSpec } from './protocol.ts';

/** The members of autocannon 9.0.0's client that the driver uses (its `lib/httpClient.js`). */
export interface AutocannonClient extends EventEmitter {
  conn: Socket | undefined;
  destroyed: boolean;
  opts: { hostname: string; port: number };
  /** The timeout of a request, in ms. */
  timeout: number;
  parser: {
    execute(piece: Buffer): unknown;
    finish(): void;
    reinitialize(type: string): void;
    shouldKeepAlive(): boolean;
    constructor: Record<'kOnBody' | 'kOnHeadersComplete' | 'kOnMessageComplete', number> & {
      RESPONSE: string;
    };
    state: string;
    hadError: boolean;
    /** The received part of an incomplete line. */
    line: string;
    /** The missing bytes of a body with a known length; null without one. */
    body_bytes: number | null;
    [callback: number]: (...args: never[]) => unknown;
  };
  pipelinedRequests: { insertRequest(): void; clear(): void };
  requestIterator: { nextRequest(): unknown };
  getRequestBuffer(): Buffer;
  _connect(): void;
  _doRequest(): void;
  _destroyConnection(): void;
  destroy(): void;
}

/** The options of autocannon's client that the driver sets. */
interface ClientOptions {
  hostname: string;
  port: number;
  requests: RequestSpec[];
  /** Called by the constructor, before it connects. */
  setupClient(client: AutocannonClient): void;
}

const require = createRequire(import.meta.url);

export const { version } = require('autocannon/package.json') as { version: string };

/** Connects and sends by itself. The driver connects over TLS, and no version has to be compared. */
export const Client = requireWithout(require, 'autocannon/lib/httpClient.js', {
  tls: {},
  semver: { gte: () => true },
}) as new (options: ClientOptions) => AutocannonClient;

/** Writes the same bytes as autocannon itself. */
export const createBuilder = require('autocannon/lib/httpRequestBuilder.js') as (defaults: {
  host: string;
}) => (request: RequestSpec) => Buffer;
