/** Codes that prove that a text comes from this user on this machine (HMAC, RFC 2104). The key never leaves the cache. */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const KEY_BYTES = 32;

/** Returns the code of a text. `cache` is the cache folder of the user, which holds the key. Throws what node:fs throws if it cannot be written. */
export function sealOf(text: string, cache: string): string {
  mkdirSync(cache, { recursive: true });
  try {
    // Another command may be first.
    writeFileSync(keyIn(cache), randomBytes(KEY_BYTES), { flag: 'wx', mode: 0o600 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  return codeOf(text, readFileSync(keyIn(cache)));
}

/** Returns true if this is the code of a text. */
export function isSealed(text: string, seal: string, cache: string): boolean {
  if (!existsSync(keyIn(cache))) return false;
  const [own, other] = [Buffer.from(codeOf(text, readFileSync(keyIn(cache)))), Buffer.from(seal)];
  return own.length === other.length && timingSafeEqual(own, other);
}

function keyIn(cache: string): string {
  return join(cache, 'seal.key');
}

function codeOf(text: string, key: Buffer): string {
  return createHmac('sha256', key).update(text).digest('hex');
}
