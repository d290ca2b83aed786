import type { BackgroundRequest } from 'bench-model/settings';

/** The request as typed, e.g. `GET /fib/42`; undefined if there is none. */
export function describeBackground(request: BackgroundRequest | undefined): string | undefined {
  return request && `${request.method} ${request.path}`;
}
