import { describe, expect, it } from 'vitest';
import { findFreePort, isListening } from '../src/ports.ts';

describe('findFreePort', () => {
  it('returns a free port outside the range of outgoing connections', async () => {
    const ports = await Promise.all(Array.from({ length: 20 }, () => findFreePort()));
    for (const port of ports) {
      expect(port).toBeGreaterThanOrEqual(20_000);
      expect(port).toBeLessThan(32_768);
      expect(await isListening('127.0.0.1', port)).toBe(false);
    }
  });
});
