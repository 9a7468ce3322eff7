import type { ReplyError } from './envelope.js';

/** The queue holds as many requests as it may: shed the load, ask again later. Nothing was queued. */
export class QueueFullError extends Error {
  readonly code = 'queue_full';
  constructor(queue: string) {
    super(`The queue "${queue}" is full.`);
    this.name = 'QueueFullError';
  }
}

/** No reply came inside the deadline. Unless `isUntaken`, a server may have seen the request. */
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

/** A server answered that it could not: it has no handler for the pattern, or the handler threw. */
export class RequestFailedError extends Error {
  readonly code: ReplyError['code'];
  constructor(error: ReplyError) {
    super(error.message);
    this.name = 'RequestFailedError';
    this.code = error.code;
  }
}
