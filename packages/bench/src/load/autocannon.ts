/** The parts of autocannon 9.0.0 that the driver uses, loaded without what they do not need. */
import { createRequire } from 'node:module';
import { loadSparing } from '../sparing.ts';
import type { AutocannonClient } from './client.ts';
import type { RequestSpec } from './protocol.ts';

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

const standIns = {
  /** Of its many modules, autocannon only asks whether this Node has workers. */
  semver: {
    gte(_node: string, least: string) {
      if (least !== '11.7.0') throw new Error(`autocannon ${version} asks for Node ${least}: pin 9.0.0`);
      return true;
    },
  },
  /** The client connects by itself, and never with TLS. */
  tls: {},
};

export const { Client, createBuilder } = loadSparing(standIns, () => ({
  /** Connects and sends by itself. */
  Client: require('autocannon/lib/httpClient.js') as new (options: ClientOptions) => AutocannonClient,
  /** Writes the same bytes as autocannon itself. */
  createBuilder: require('autocannon/lib/httpRequestBuilder.js') as (defaults: {
    host: string;
  }) => (request: RequestSpec) => Buffer,
}));
