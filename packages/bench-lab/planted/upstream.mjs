/** Starts the planted upstream. */
import { keepCompiled } from './cache.mjs';

keepCompiled();
await import('./upstream.ts');
