/** A promise that is resolved from outside. */
export class Deferred<T> {
  resolve!: (value: T | PromiseLike<T>) => void;
  readonly promise = new Promise<T>((resolve) => (this.resolve = resolve));
}
