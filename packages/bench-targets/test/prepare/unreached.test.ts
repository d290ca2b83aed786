import { describe, expect, it } from 'vitest';
import { unreachedError } from '../../src/prepare/unreached.ts';

const PIP = `WARNING: Retrying (Retry(total=0)) after connection broken by 'NewConnectionError('<pip._vendor.urllib3.connection.HTTPConnection object at 0x7fe9>: Failed to establish a new connection: [Errno 111] Connection refused')': /uv/
ERROR: Could not find a version that satisfies the requirement uv (from versions: none)
ERROR: No matching distribution found for uv
`;
const UV = `error: Request failed after 3 retries in 10.0s
  cause: Failed to fetch: http://127.0.0.1:9/six/
  cause: error sending request for url (http://127.0.0.1:9/six/)
  cause: tcp connect error
  cause: Connection refused (os error 111)
`;
const UV_LATER = `error: No solution found when resolving dependencies
  cause: Because six was not found in the cache and you require six==1.16.0, we can conclude that your requirements are unsatisfiable.

hint: Packages were unavailable because the network was disabled. When the network is disabled, registry packages may only be read from the cache.
`;
const CARGO = `warning: spurious network error (1 try remaining): [7] Could not connect to server
error: failed to download from \`http://127.0.0.1:9/a/1.0.0/download\`

Caused by:
  [7] Couldn't connect to server (Failed to connect to 127.0.0.1 port 9 after 0 ms)
`;
const CARGO_LATER =
  'error: failed to download `a v1.0.0`\n\nCaused by:\n  attempting to make an HTTP request, but --offline was specified\n';

describe('a registry that cannot be reached', () => {
  it.each([
    ['pip', PIP, 'Failed to establish a new connection: [Errno 111] Connection refused', 'PIP_NO_INDEX'],
    ['uv', UV, 'Connection refused (os error 111)', 'UV_OFFLINE'],
    [
      'cargo',
      CARGO,
      "Couldn't connect to server (Failed to connect to 127.0.0.1 port 9 after 0 ms)",
      'CARGO_NET_OFFLINE',
    ],
  ])('is not contacted by %s again while the command runs', (tool, output, says, variable) => {
    const env: NodeJS.ProcessEnv = {};
    expect(unreachedError(tool, output, env)).toMatchObject({
      code: 'toolchain',
      message: `${tool} cannot reach its registry: ${says}`,
    });
    expect(env).toHaveProperty(variable);
  });

  it.each([
    ['uv', UV, UV_LATER],
    ['cargo', CARGO, CARGO_LATER],
  ])('is reported in the same words each time, so that %s is reported once', (tool, first, later) => {
    const env: NodeJS.ProcessEnv = {};
    const told = unreachedError(tool, first, env)?.message;
    expect(unreachedError(tool, later, env)?.message).toBe(told);
  });

  it.each([
    ['uv', 'error: Because there is no version of fastapi==0.999'],
    ['uv', UV_LATER],
    ['cargo', "error[E0308]: mismatched types\nerror: could not compile `bench-actix` (bin 'bench-actix')"],
    ['sh', CARGO],
  ])('is not inferred from other output of %s: %#', (tool, output) => {
    const env: NodeJS.ProcessEnv = {};
    expect(unreachedError(tool, output, env)).toBeUndefined();
    expect(env).toEqual({});
  });

  it('is not blamed for a later failure', () => {
    const env: NodeJS.ProcessEnv = {};
    unreachedError('cargo', CARGO, env);
    expect(unreachedError('cargo', 'error[E0308]: mismatched types', env)).toBeUndefined();
  });
});
