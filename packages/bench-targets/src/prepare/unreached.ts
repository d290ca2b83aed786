/** Registries that cannot be reached. After the first failure, this command and its child processes work offline. */

import { BenchError, ToolchainError } from 'bench-model/errors';

/** Messages of tools when no registry answered. */
const UNREACHED =
  /could not resolve host|failed to lookup address|name or service not known|name resolution|dns error|error sending request|failed to establish a new connection|connection (?:refused|reset|timed out)|tcp connect|couldn't connect|failed to connect|dial tcp|network is unreachable|\b(?:ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH)\b/i;
/** Messages of tools in offline mode when their cache lacks a package. */
const NOT_CACHED =
  /network (?:was|connectivity is) disabled|no matching distribution|--offline|offline mode|GOPROXY=off|module lookup disabled|ENOTCACHED|ERR_PNPM_NO_OFFLINE/i;

/** The offline switch of each tool: it uses its cache, or fails at once. */
const OFFLINE: Record<string, Record<string, string>> = {
  pip: { PIP_NO_INDEX: '1' },
  uv: { UV_OFFLINE: '1' },
  'uv python': { UV_PYTHON_DOWNLOADS: 'never' },
  cargo: { CARGO_NET_OFFLINE: 'true' },
  go: { GOPROXY: 'off' },
  npm: { npm_config_offline: 'true' },
  // The versions of Yarn have no common switch.
  yarn: {},
  pnpm: { pnpm_config_offline: 'true', npm_config_offline: 'true' },
};

/** The first failure. The environment passes it to every later child process. */
const nameOf = (tool: string): string => `BENCH_UNREACHED_${tool.replaceAll(/\W/g, '_').toUpperCase()}`;

/**
 * Returns the error of a tool that could not reach its registry, and switches the tool to offline mode for the rest
 * of this command. The error is always the same, so that it is reported once. Undefined if the output shows another
 * error.
 */
export function unreachedError(
  tool: string,
  output: string,
  env: NodeJS.ProcessEnv = process.env,
): BenchError | undefined {
  const offline = OFFLINE[tool];
  if (offline === undefined) return undefined;
  const before = env[nameOf(tool)];
  const says = reasonIn(output);
  if (says === undefined && (before === undefined || !NOT_CACHED.test(output))) return undefined;
  const reason = before ?? says ?? '';
  Object.assign(env, offline, { [nameOf(tool)]: reason });
  const message = `${tool} cannot reach its registry: ${reason}`;
  return new ToolchainError(message, 'check the network and try again');
}

/** Returns the last line about a connection, without addresses, because it is stored with the run. */
function reasonIn(output: string): string | undefined {
  const line = output.split('\n').findLast((one) => UNREACHED.test(one));
  const at = line?.search(UNREACHED) ?? 0;
  const reason = line?.slice(at).replace(/'\).*/, '').trim();
  return reason?.replaceAll(/\w+:\/\/[^\s`'")]+/g, '…');
}
