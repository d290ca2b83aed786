import { enableCompileCache } from 'node:module';
import { fileURLToPath } from 'node:url';

/**
 * Keeps the compiled modules of a planted server, because the tests start it hundreds of times. Only what is imported later comes
 * from the cache, so what a server is started with is JavaScript: to strip its types would take as long as all the rest, and so
 * would an import of node:http, which also loads fetch.
 */
export function keepCompiled() {
  enableCompileCache(fileURLToPath(new URL('../../../.cache/planted', import.meta.url)));
}
