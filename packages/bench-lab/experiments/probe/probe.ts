/**
 * Probes the core that it is pinned to. Each line on stdin names a part, and is answered by an empty line.
 *
 * - `arithmetic`: a loop in registers
 * - `memory`: pointers chased through 512 KiB
 */
import { createInterface } from 'node:readline';

const ROUNDS = 600_000;
const HOPS = 60_000;
const SLOTS = (512 * 1024) / 4;

/** One random cycle through all slots (Sattolo 1986), so that no hop can be predicted. */
const next = Int32Array.from({ length: SLOTS }, (_, slot) => slot);
for (let slot = SLOTS - 1; slot > 0; slot--) {
  const other = Math.floor(Math.random() * slot);
  [next[slot], next[other]] = [next[other] ?? 0, next[slot] ?? 0];
}

let at = 0;
let state = 1;

function count(): void {
  let own = state;
  for (let round = 0; round < ROUNDS; round++) own = (Math.imul(own, 1_664_525) + 1_013_904_223) | 0;
  state = own;
}

function chase(): void {
  let own = at;
  for (let hop = 0; hop < HOPS; hop++) own = next[own] as number;
  at = own;
}

for (let warm = 0; warm < 200; warm++) [count, chase].forEach((part) => part());
for await (const part of createInterface({ input: process.stdin })) {
  if (part === 'arithmetic') count();
  else chase();
  console.log();
}
