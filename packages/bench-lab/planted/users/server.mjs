/** Starts the planted server of `users`. */
import { keepCompiled } from '../cache.mjs';

keepCompiled();
await import('./server.ts');
