/** Codes that prove that a text comes from this user on this machine (HMAC, RFC 2104). The key never leaves the cache. */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const KEY_BYTES = 32;

/** Returns the code of a text. `cache` is the cache folder of the user, which holds the key. */
export function sealOf(text: string, cache: string): string {
  return createHmac('sha256', keyIn(cache)).update(text).digest('hex');
}

/** Returns true if this is the code of a text. */
export function isSealed(text: string, seal: string, cache: string): boolean {
  const [own, other] = [Buffer.from(sealOf(text, cache)), Buffer.from(seal)];
  return own.length === other.length && timingSafeEqual(own, other);
}

function keyIn(cache: string): Buffer {
  const file = join(cache, 'seal.key');
  mkdirSync(cache, { recursive: true });
  try {
    // Another command may be first.
    writeFileSync(file, randomBytes(KEY_BYTES), { flag: 'wx', mode: 0o600 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  return readFileSync(file);
}
