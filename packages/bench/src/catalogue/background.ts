import { BenchError } from '../errors.ts';
import type { BackgroundRequest } from '../model.ts';

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

/** The request that `GET /fib/42` writes; undefined for undefined. Throws a usage error for any other form. */
export function parseBackground(text: string | undefined): BackgroundRequest | undefined {
  if (text === undefined) return undefined;
  const [, method, path] = /^(\S+)\s+(\/\S*)$/.exec(text.trim()) ?? [];
  if (method === undefined || path === undefined) {
    throw new BenchError(
      'usage',
      `--background ${text}: not of the form METHOD /path`,
      'e.g. --background "GET /fib/42"',
    );
  }
  if (!METHODS.includes(method)) {
    throw new BenchError(
      'usage',
      `--background ${text}: there is no method ${method}`,
      `one of ${METHODS.join(', ')}`,
    );
  }
  return { method, path };
}

/** A request as it was typed: `GET /fib/42`; undefined for undefined. */
export function describeBackground(request: BackgroundRequest | undefined): string | undefined {
  return request && `${request.method} ${request.path}`;
}
