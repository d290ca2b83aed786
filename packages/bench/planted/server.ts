/** Starts the planted server. Its compiled modules are kept, because the tests start it hundreds of times. */
import { enableCompileCache } from 'node:module';
import { fileURLToPath } from 'node:url';

enableCompileCache(fileURLToPath(new URL('../../../.cache/planted', import.meta.url)));
await import('./behaviour.ts');
