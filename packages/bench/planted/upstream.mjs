/** Starts the planted upstream. */
import './cache.mjs';

await import('./upstream.ts');
