/** Starts the planted server of `users`. */
import '../cache.mjs';

await import('./server.ts');
