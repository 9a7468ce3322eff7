import { Injectable } from '@nestjs/common';

/** Tells the ways of delivery in this process that the book may have new events. They also look on their own. */
@Injectable()
export class NewsBell {
  readonly #listeners = new Set<() => void>();

  ring(): void {
    for (const listener of this.#listeners) listener();
  }

  /** Returns what ends it. */
  onRing(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
