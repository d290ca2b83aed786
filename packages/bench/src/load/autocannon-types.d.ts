declare module 'autocannon' {
  /** The options of autocannon 9.0.0 that a comparison with it sets. */
  interface Options {
    url: string;
    connections: number;
    duration: number;
    /** Called for each client before it connects. */
    setupClient?(client: { reqsMade: number }): void;
  }
  /** The parts of autocannon's own result that a comparison with it reads. */
  interface Result {
    requests: { total: number; average: number };
    latency: { average: number };
    errors: number;
    duration: number;
  }
  export default function autocannon(options: Options): Promise<Result>;
}

declare module 'autocannon/lib/httpClient.js' {
  import type { AutocannonClient } from './client.ts';

  /** The options of autocannon's client that the driver sets. */
  interface ClientOptions {
    hostname: string;
    port: number;
    requests: { method: string; path: string; headers: Record<string, string>; body?: string }[];
    /** Called by the constructor, before it connects. */
    setupClient(client: AutocannonClient): void;
  }
  /** Connects and sends by itself. */
  const Client: new (options: ClientOptions) => AutocannonClient;
  export default Client;
}
