import type { ReplyError } from './envelope.js';

/** The queue has reached its limit. Nothing was queued; shed load or retry later. */
export class QueueFullError extends Error {
  readonly code = 'queue_full';
  constructor(queue: string) {
    super(`The queue "${queue}" is full.`);
    this.name = 'QueueFullError';
  }
}

/** No reply came before the deadline. Unless `isUntaken`, a server may have seen the request. */
export class NoReplyError extends Error {
  readonly code = 'no_reply';
  constructor(
    queue: string,
    reason: string,
    readonly isUntaken = false,
  ) {
    super(`No reply from the queue "${queue}": ${reason}.`);
    this.name = 'NoReplyError';
  }
}

/** A server reported a failure: it has no handler for the pattern, or the handler threw. */
export class RequestFailedError extends Error {
  readonly code: ReplyError['code'];
  constructor(error: ReplyError) {
    super(error.message);
    this.name = 'RequestFailedError';
    this.code = error.code;
  }
}
