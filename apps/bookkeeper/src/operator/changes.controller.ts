import { Header, Inject, Req, Sse, type MessageEvent } from '@nestjs/common';
import { ProblemError } from '@tollgate/http';
import type { FastifyRequest } from 'fastify';
import {
  defer,
  EMPTY,
  endWith,
  exhaustMap,
  finalize,
  ignoreElements,
  interval,
  map,
  merge,
  takeWhile,
  throttleTime,
  type Observable,
} from 'rxjs';

import { BookChanges } from '../drain/book-changes.js';
import { OperatorKeys } from '../sessions/operator-keys.js';
import { OperatorController, Serve, type Operator } from './operator-controller.js';

const MOST_OF_KEY = 20;
/** A change is sent at once; many changes are sent once in this time. */
const AT_MOST_EVERY_MS = 1_000;
/** Keeps proxies from closing the stream; the key is looked at each time. */
const ALIVE_EVERY_MS = 5_000;

@OperatorController()
export class ChangesController {
  readonly #streams = new Map<string, number>();

  constructor(
    @Inject(BookChanges) private readonly changes: BookChanges,
    @Inject(OperatorKeys) private readonly keys: OperatorKeys,
  ) {}

  /** The events hold nothing: who shows the book asks for what it shows. */
  @Sse('operator/changes')
  @Header('X-Accel-Buffering', 'no')
  @Serve('GET /operator/changes')
  stream({ caller }: Operator<'GET /operator/changes'>, @Req() { method }: FastifyRequest): Observable<MessageEvent> {
    const keyId = caller.id;
    if (method === 'HEAD') return EMPTY;
    if ((this.#streams.get(keyId) ?? 0) >= MOST_OF_KEY) {
      const detail = `This API key has ${MOST_OF_KEY} event streams open, and may have no more.`;
      throw new ProblemError({ status: 429, code: 'too_many_streams', detail, retryAfterMs: ALIVE_EVERY_MS });
    }
    const book: MessageEvent = { type: 'book', data: {} };
    const alive: MessageEvent = { type: 'alive', data: {} };
    const changed = this.changes.stream.pipe(
      throttleTime(AT_MOST_EVERY_MS, undefined, { leading: true, trailing: true }),
      map(() => book),
    );
    const looked = interval(ALIVE_EVERY_MS).pipe(
      exhaustMap(async () => ((await this.keys.isRevoked(keyId)) ? null : alive)),
    );
    const stopped = this.changes.stream.pipe(ignoreElements(), endWith(null));
    return defer(() => {
      this.#count(keyId, 1);
      return merge(changed, looked, stopped).pipe(
        takeWhile((message) => message !== null),
        finalize(() => this.#count(keyId, -1)),
      );
    });
  }

  #count(keyId: string, change: 1 | -1): void {
    const count = (this.#streams.get(keyId) ?? 0) + change;
    if (count > 0) this.#streams.set(keyId, count);
    else this.#streams.delete(keyId);
  }
}
