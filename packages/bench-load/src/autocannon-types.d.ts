declare module 'autocannon' {
  /** The options of autocannon 9.0.0 that a comparison with it sets. */
  interface Options {
    url: string;
    connections: number;
    duration: number;
    /** Called for each client before it connects. */
    setupClient?(client: { reqsMade: number }): void;
  }
  export default function autocannon(options: Options): Promise<unknown>;
}
