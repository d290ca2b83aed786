import type { BackgroundRequest } from '../model.ts';

/** A request as it was typed: `GET /fib/42`; undefined for undefined. */
export function describeBackground(request: BackgroundRequest | undefined): string | undefined {
  return request && `${request.method} ${request.path}`;
}
