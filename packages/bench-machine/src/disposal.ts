/** The stacks of explicit resource management, which Node has from 24 on. */

type Release = () => unknown;

/** The part that both stacks share. */
class Stack {
  #releases: Release[] = [];
  disposed = false;

  /** Takes the releases, in the order in which they must run. */
  protected take(): Release[] {
    const releases = this.#releases.toReversed();
    this.#releases = [];
    this.disposed = true;
    return releases;
  }

  use<T>(value: T): T {
    const { [Symbol.asyncDispose]: later, [Symbol.dispose]: now } = Object(value) as Partial<
      AsyncDisposable & Disposable
    >;
    const release = this instanceof AsyncStack ? (later ?? now) : now;
    if (release !== undefined) this.#releases.push(() => release.call(value as never));
    else if (value !== null && value !== undefined) throw new TypeError('the value cannot be disposed of');
    return value;
  }

  defer(release: Release): void {
    this.#releases.push(release);
  }

  adopt<T>(value: T, release: (value: T) => unknown): T {
    this.defer(() => release(value));
    return value;
  }

  move(): this {
    const made = new (this.constructor as new () => this)();
    made.#releases = this.#releases;
    this.#releases = [];
    this.disposed = true;
    return made;
  }
}

/** A `DisposableStack`. */
export class SyncStack extends Stack {
  dispose(): void {
    const errors: unknown[] = [];
    for (const release of this.take()) {
      try {
        release();
      } catch (error) {
        errors.push(error);
      }
    }
    raise(errors);
  }

  [Symbol.dispose](): void {
    this.dispose();
  }
}

/** An `AsyncDisposableStack`. */
export class AsyncStack extends Stack {
  async disposeAsync(): Promise<void> {
    const errors: unknown[] = [];
    for (const release of this.take()) {
      try {
        await release();
      } catch (error) {
        errors.push(error);
      }
    }
    raise(errors);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.disposeAsync();
  }
}

function raise(errors: unknown[]): void {
  if (errors.length === 1) throw errors[0];
  if (errors.length > 1) throw new AggregateError(errors, 'several resources could not be released');
}

/** `DisposableStack` of Node if it has one, otherwise the class above. */
export const DisposableStack = globalThis.DisposableStack ?? SyncStack;
/** `AsyncDisposableStack` of Node if it has one, otherwise the class above. */
export const AsyncDisposableStack = globalThis.AsyncDisposableStack ?? AsyncStack;
