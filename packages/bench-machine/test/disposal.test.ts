import { describe, expect, it } from 'vitest';
import { AsyncStack, SyncStack } from '../src/disposal.ts';

/** Records what is released, in order. */
function track(): { released: string[]; of: (name: string) => Disposable & AsyncDisposable } {
  const released: string[] = [];
  return {
    released,
    of: (name) => ({
      [Symbol.dispose]: () => void released.push(name),
      [Symbol.asyncDispose]: async () => void released.push(`${name} later`),
    }),
  };
}

describe('the stacks for a Node without explicit resource management', () => {
  it('release in reverse order, once', async () => {
    const { released, of } = track();
    const stack = new SyncStack();
    expect(stack.use(undefined)).toBeUndefined();
    stack.use(of('first'));
    stack.defer(() => released.push('second'));
    stack.adopt('third', (name) => released.push(name));
    stack.dispose();
    stack.dispose();
    expect(released).toEqual(['third', 'second', 'first']);
    const later = new AsyncStack();
    later.use(of('a'));
    later.use(of('b'));
    await later.disposeAsync();
    expect(released.slice(3)).toEqual(['b later', 'a later']);
  });

  it('hand over their resources by move', async () => {
    const { released, of } = track();
    const stack = new AsyncStack();
    stack.use(of('kept'));
    const moved = stack.move();
    await stack.disposeAsync();
    expect(released).toEqual([]);
    await moved.disposeAsync();
    expect(released).toEqual(['kept later']);
  });

  it('release everything even if one release fails, and then throw', () => {
    const { released, of } = track();
    const stack = new SyncStack();
    stack.use(of('first'));
    stack.defer(() => {
      throw new Error('stuck');
    });
    expect(() => stack.dispose()).toThrow('stuck');
    expect(released).toEqual(['first']);
  });
});
