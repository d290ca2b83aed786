/** A server of `repository` that exchanges some answers, spoils others, and counts both. */
import { createServer, type ServerResponse } from 'node:http';
import { parseArgs } from 'node:util';

/** Its counts from the start; printed as `planted-account {…}` at SIGTERM. */
export interface RepositoryAccount {
  read: number;
  refused: number;
  right: number;
  /** Answers that were sent to another request. */
  swapped: number;
  /** Answers with the right id and another error. */
  spoilt: number;
  /** Ids that more than one request used. */
  repeatedIds: number;
}

type Body = Record<string, unknown>;

const { values } = parseArgs({
  options: {
    host: { type: 'string', default: '127.0.0.1' },
    port: { type: 'string', default: '8080' },
    /** This many requests are answered correctly first; the numbers of faults count from there. */
    'sound-first': { type: 'string', default: '0' },
    /** Each request with a multiple of this number exchanges its answer with the next one. */
    'swap-every': { type: 'string', default: '0' },
    'spoil-every': { type: 'string', default: '0' },
  },
});
const SAVED: Record<string, string> = {
  '/customers': 'customer',
  '/products': 'product',
  '/orders': 'order',
};
const account: RepositoryAccount = { read: 0, refused: 0, right: 0, swapped: 0, spoilt: 0, repeatedIds: 0 };
const ids = new Set<unknown>();
/** The request that waits to exchange its answer with the next one. */
let held: { response: ServerResponse; answer: object } | undefined;

function falls(number: number, every: keyof typeof values): boolean {
  return Number(values[every]) > 0 && number > 0 && number % Number(values[every]) === 0;
}

function answer(path: string, text: string, response: ServerResponse): void {
  const number = ++account.read - Number(values['sound-first']);
  const data = parse(text);
  const saved = SAVED[path];
  if (data === undefined || saved === undefined) {
    account.refused++;
    send(response, 422, { error: 'a bad body' });
    return;
  }
  if (ids.has(data['id'])) account.repeatedIds++;
  ids.add(data['id']);
  const right = { saved, data };
  if (held !== undefined) {
    account.swapped += 2;
    send(held.response, 200, right);
    send(response, 200, held.answer);
    held = undefined;
  } else if (falls(number, 'swap-every')) {
    held = { response, answer: right };
  } else if (falls(number, 'spoil-every')) {
    account.spoilt++;
    send(response, 200, { saved: 'nothing', data });
  } else {
    account.right++;
    send(response, 200, right);
  }
}

/** Parses a body; undefined if it is invalid. */
function parse(text: string): Body | undefined {
  try {
    const body = JSON.parse(text) as Body;
    const isFlat = Object.values(body).every((value) => typeof value !== 'object');
    return isFlat && typeof body['id'] === 'string' ? body : undefined;
  } catch {
    return undefined;
  }
}

function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

const server = createServer({ keepAliveTimeout: 75_000 }, (request, response) => {
  let text = '';
  request.on('data', (piece: Buffer) => {
    text += piece.toString();
  });
  request.on('end', () => answer(request.url ?? '', text, response));
});
server.listen({ host: values.host, port: Number(values.port), backlog: 16_384 });
process.once('SIGTERM', () => {
  process.stdout.write(`planted-account ${JSON.stringify(account)}\n`);
  server.close();
  server.closeAllConnections();
});
