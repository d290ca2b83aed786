/** Two servers whose answers take longer than a turn. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { Place, flags, hasProc } from './cli.ts';

const WAIT_MS = 600;
const SERVER = `
import { createServer } from 'node:http';
createServer((_, response) => setTimeout(() => response.end('pong'), ${WAIT_MS})).listen(process.env.PORT, '127.0.0.1');
`;
const MANIFEST = {
  name: 'slow',
  language: 'javascript',
  framework: 'none',
  class: 'raw',
  runtime: 'none',
  default: 'one',
  variants: {
    one: { command: ['node', 'server.mjs'] },
    other: { command: ['node', 'server.mjs', 'other'] },
  },
  requests: ['GET /ping'],
};

it.skipIf(!hasProc)('a duel of slow servers is measured one at a time, and has right answers', async () => {
  await using place = new Place();
  writeFileSync(join(place.folder, 'server.mjs'), SERVER);
  const manifest = join(place.folder, 'stack.json');
  writeFileSync(manifest, JSON.stringify(MANIFEST));
  const { status, stderr } = await place.run('bench', [
    'slow/one',
    'slow/other',
    '--stack',
    manifest,
    ...flags({ rounds: 1, connections: 4, duration: 0.5, warmup: 0 }),
  ]);
  expect(stderr).toMatch(
    /one server at a time: their answers are too slow for turns\nwindows of \d+(?:\.\d+)? s, because an answer takes about \d\.\d+ s/,
  );
  const trials = place.trials();
  expect(trials.map((trial) => trial.duel)).toEqual([undefined, undefined]);
  // Four connections, five answers each, but those at the edges.
  const answers = trials.map((trial) =>
    trial.status === 'failed' ? trial.reasons : trial.measured.load.counts.ok,
  );
  expect(answers).toEqual([expect.any(Number), expect.any(Number)]);
  expect(Math.min(...(answers as number[]))).toBeGreaterThanOrEqual(12);
  expect(status).toBe(0);
  await place.untilGone();
});
