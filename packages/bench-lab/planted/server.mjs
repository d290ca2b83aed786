/** Starts the planted server. */
import { keepCompiled } from './cache.mjs';

keepCompiled();
await import('./behaviour.ts');
