/** Starts the planted server. */
import './cache.mjs';

await import('./behaviour.ts');
