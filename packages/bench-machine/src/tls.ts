/** TLS towards a server, and the protocol that a port speaks. Node's modules for it are loaded by those who need them: they take long. */
import { isIP } from 'node:net';
import type { ConnectionOptions } from 'node:tls';
import { endpointOf, toAuthority } from './ports.ts';

/** How a client speaks TLS to a server. */
export interface Tls {
  /** The name that it asks for (SNI); absent for an IP address. */
  servername?: string;
  /** False if the certificate may be self-signed, as on this machine. */
  verifies: boolean;
}

/** Towards a server that Bench starts. */
export const OWN_TLS: Tls = { servername: 'localhost', verifies: false };

/** The protocol of the load. Without it, a server may choose HTTP/2. */
const ALPN = ['http/1.1'];
/** The longest wait for the response of a port that is asked for its protocol. */
const PROBE_MS = 1000;
/** Returns how to speak TLS to the server of a URL; undefined for http. */
export async function tlsOf(url: URL): Promise<Tls | undefined> {
  if (url.protocol !== 'https:') return undefined;
  const name = endpointOf(url).host;
  // Loaded here: a generator starts without what starts programs.
  const { isThisMachine } = await import('./listener.ts');
  const verifies = !(await isThisMachine(name));
  return isIP(name) === 0 ? { servername: name, verifies } : { verifies };
}

/** Returns the options of node:tls and node:https for connections to a server. */
export function tlsOptions({ servername, verifies }: Tls): ConnectionOptions {
  return {
    rejectUnauthorized: verifies,
    ALPNProtocols: ALPN,
    ...(servername === undefined ? {} : { servername }),
  };
}

/** Formats the origin of a server: `https://127.0.0.1:8443`. */
export function toOrigin({ tls, ...place }: { host: string; port: number; tls?: Tls | undefined }): string {
  return `${tls === undefined ? 'http' : 'https'}://${toAuthority(place)}`;
}

/** Asks a port that does not answer plain HTTP/1.1 for what it speaks instead; undefined if that is not known. */
export async function seeProtocol(host: string, port: number): Promise<'tls' | 'http2' | undefined> {
  if (await speaksTls(host, port)) return 'tls';
  return (await speaksHttp2(host, port)) ? 'http2' : undefined;
}

/** Returns true if a port answers the beginning of a TLS handshake. */
function speaksTls(host: string, port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const { connect } = process.getBuiltinModule('node:tls');
  const socket = connect({ host, port, ...tlsOptions(OWN_TLS), timeout: PROBE_MS })
    .once('secureConnect', () => resolve(true))
    // It may want a certificate of the client, or HTTP/2.
    .once('error', ({ code }: NodeJS.ErrnoException) => resolve(code?.includes('_ALERT_') === true))
    .once('close', () => resolve(false))
    .once('timeout', () => resolve(false));
  return promise.finally(() => socket.destroy());
}

/** Returns true if a port answers the preface of HTTP/2 with its settings. */
function speaksHttp2(host: string, port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const { connect } = process.getBuiltinModule('node:http2');
  const session = connect(toOrigin({ host, port }))
    .once('remoteSettings', () => resolve(true))
    .once('error', () => resolve(false))
    .once('close', () => resolve(false));
  session.setTimeout(PROBE_MS, () => resolve(false));
  return promise.finally(() => session.destroy());
}
