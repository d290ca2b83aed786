/** What to type against each fault of a server that is tried. */
import { showPath } from 'bench-machine/files';
import { isAbsolute } from 'node:path';
import { fillCommand } from 'bench-machine/launch';
import { joinWords } from 'bench-targets/catalogue/projects/words';
import type { Answer, WorkloadRequest } from 'bench-targets/catalogue/workloads/workload';
import type { Fault } from '../measure/fault.ts';

/** The way in which the user named a server and its requests. */
export interface Named {
  /** What holds its command: `--run`, or a manifest. */
  command: string;
  /** What says that the server speaks TLS, or that it does not; absent for a server of `--run`, which speaks plain HTTP. */
  https?: { on: string; off: string };
  /** What gives it longer to start; absent if nothing does. */
  patience?: string;
  words: readonly string[];
  /** True if Bench was to move its port. */
  movesPort?: boolean;
  /** What holds its requests: a file or a document; undefined if options name them. */
  requests?: string | undefined;
  /** The workload of Bench whose answers it must give; undefined if the user named the requests. */
  workload?: string | undefined;
}

type Cures = {
  [Kind in Fault['kind']]: (fault: Extract<Fault, { kind: Kind }>, named: Named) => string;
};

/** What languages say of a file or a folder that is not there. */
const ABSENT = /no such file or directory|ENOENT|does not exist/i;

/** What languages say of a port on which another program listens. */
export const TAKEN_PORT = /EADDRINUSE|address (?:is )?already in use/i;

/** What shells and languages say of a program that is not on PATH. */
const NO_PROGRAM =
  /\b(?:executable|command|program) ['"`]?([\w.-]+)['"`]? (?:was )?not found|^exit status 127\b.*?([\w.-]+): (?:command )?not found|\bspawn ([\w.-]+) ENOENT/i;

const CURES: Cures = {
  ended: ({ end }, { command, words }) => {
    if (TAKEN_PORT.test(end))
      return `its port is taken: stop what listens there, or let it listen on {port} in ${command}, or on PORT in its environment`;
    const [, absent] = /['"`]([^'"`\s]*\/[^'"`\s]+)['"`]/.exec(ABSENT.test(end) ? end : '') ?? [];
    if (absent !== undefined)
      return `create ${isAbsolute(absent) ? showPath(absent) : absent} first: a build may write it, such as that of a front end`;
    const [program] = (NO_PROGRAM.exec(end) ?? []).slice(1).filter((name) => name !== undefined);
    if (program !== undefined) return `install ${program}, and put it on PATH: the server starts it`;
    // After a colon, it names an error.
    if (/^exit status 0(?!:)/.test(end))
      return `name the server itself in ${command}, with its arguments: it must stay in the foreground. Some servers also end like this if their port is taken`;
    const line = joinWords(
      fillCommand([...words], { host: '127.0.0.1', port: 8000, workers: 1, threads: undefined }),
    );
    return line.includes('{build}')
      ? 'its last lines say why'
      : `its last lines say why. To start it by hand: PORT=8000 ${line}`;
  },
  'other-port': ({ namesPort }, { command, movesPort }) =>
    movesPort === true
      ? 'remove "movesPort": this program binds without the C library, so its targets are measured one at a time'
      : namesPort
        ? `write {port} in ${command} where the server reads its port from, e.g. --port {port}`
        : `pass {port} in ${command}, e.g. --port {port}, or let the server read PORT`,
  'other-address': (_, { command }) =>
    `pass {host} in ${command}, e.g. --host {host}, or let the server read HOST`,
  'unix-socket': (_, { command }) =>
    `Bench measures over TCP: let the server listen on {port} in ${command}, or on PORT in its environment`,
  'not-listening': (_, named) =>
    orLonger(named, `correct ${named.command}: the port to listen on is {port}, or PORT in its environment`),
  silent: (_, named) => orLonger(named, askElse(named)),
  'hangs-up': () =>
    'its last lines may say why: it must serve plain HTTP/1.1 requests on the port that it was given',
  tls: (_, { https }) => https?.on ?? 'write its stack.json with init, which finds out that it speaks TLS',
  'no-tls': (_, { https }) => https?.off ?? 'remove "scheme" from its stack.json',
  http2: () => 'every engine of Bench sends HTTP/1.1: let the server accept it beside HTTP/2',
  'no-http': () => 'it must speak HTTP/1.1 (RFC 9112): curl -v shows what it sends',
  untrusted: () => 'name the authority that signed it: NODE_EXTRA_CA_CERTS=ca.pem in the environment',
  'wrong-answer': (fault, named) => cureAnswer(fault, named),
  'refuses-login': ({ request }) =>
    `correct the body of "login", or the variables in it. To try it by hand: ${request.method} ${request.path}`,
  'refuses-repeats': ({ request }) =>
    request.row === undefined
      ? 'make each request unique: {uuid} or {seq} in its path or body, or a column of "rows"'
      : 'send each row once: write "repeat": false',
};

/** Says what to type against a fault of a server. */
export function cureFor<Kind extends Fault['kind']>(
  fault: Extract<Fault, { kind: Kind }>,
  named: Named,
): string {
  return CURES[fault.kind](fault, named);
}

function orLonger({ patience }: Named, other: string): string {
  return patience === undefined ? other : `if it needs longer: ${patience}; else ${other}`;
}

function askElse({ requests, workload }: Named, path = '/orders'): string {
  if (workload !== undefined) return `request what it serves: --get ${path}`;
  return requests === undefined
    ? `name a path that it serves: --get ${path}`
    : `correct the requests in ${requests}`;
}

function cureAnswer(
  { request, answer: { status, headers = {} } }: { request: WorkloadRequest; answer: Answer },
  named: Named,
): string {
  const { workload } = named;
  if (workload !== undefined)
    return `the workload ${workload} needs this response; for requests of your own: --get /orders`;
  const expectIt = `if this response is right, expect it in a file of requests: "expect": { "status": ${status} }`;
  const { location, allow } = headers;
  if (status >= 300 && status < 400 && location !== undefined) {
    const to = describeRedirect(location, request);
    return `${to}; to measure the redirect itself: "expect": { "status": ${status} } in a file of requests`;
  }
  switch (status) {
    case 401:
    case 403:
    case 407:
      return `send what it asks for: --header 'authorization: Bearer …', or a login (docs/guides/requests.md); ${expectIt}`;
    case 404:
    case 410:
      return `${askElse(named)}; ${expectIt}`;
    case 405:
      return `use another method: --request '${allow?.split(/\s*,\s*/)[0] ?? 'POST'} ${request.path}'`;
    case 429:
      return 'switch off its rate limit: every load exceeds it';
  }
  if (status >= 500) return 'its last lines may say why: the server runs, but fails at this request';
  if (status >= 400) return `correct the request as its response says: --header, --body; ${expectIt}`;
  return 'if this response is right, expect its status, its body or a JSON Schema of it in a file of requests: "expect"';
}

/** Says how to ask for the target of a redirect. */
function describeRedirect(location: string, { path }: WorkloadRequest): string {
  const base = new URL(path, 'http://server');
  if (!URL.canParse(location, base)) return `it redirects to ${location}`;
  const target = new URL(location, base);
  const samePath = `${target.pathname}${target.search}` === `${base.pathname}${base.search}`;
  if (target.protocol === 'https:' && samePath)
    return `it redirects to https: --header 'x-forwarded-proto: https', as its proxy sends it`;
  return `request the target of the redirect: --get ${target.pathname}${target.search}`;
}
