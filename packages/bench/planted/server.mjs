/**
 * Starts the planted server. Its compiled modules are kept, because the tests start it hundreds of times. Only what this
 * file imports comes from the cache, so it is JavaScript: to strip its types would take as long as all the rest.
 */
import { enableCompileCache } from 'node:module';
import { fileURLToPath } from 'node:url';

enableCompileCache(fileURLToPath(new URL('../../../.cache/planted', import.meta.url)));
await import('./behaviour.ts');
