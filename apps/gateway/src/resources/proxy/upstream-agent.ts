import { Agent, buildConnector } from 'undici';

import { UpstreamError, type ResourceRequest } from '../../paywall/route/paid-route.js';
import { isSafeMethod } from './headers.js';

/** Many clients read 16 KiB of headers, and those of the gateway come on top. */
const MAX_HEAD_BYTES = 14 * 1024;

export function errorCodeOf(error: unknown): string {
  return typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : '';
}

/** Maps an error to its meaning for the payment: see `UpstreamFailure`. */
export function toUpstreamError(error: unknown, request: ResourceRequest, clockRanOut: boolean): UpstreamError {
  if (error instanceof UpstreamError) return error;
  const reason = error instanceof Error ? error.message : String(error);
  if (error instanceof NotConnectedError) {
    const { timedOut, cause } = error;
    return new UpstreamError('refused', `The upstream could not be reached: ${reason}`, { cause, timedOut });
  }
  const code = errorCodeOf(error);
  if (code === 'UND_ERR_INVALID_ARG') {
    return new UpstreamError('refused', `The request cannot be sent to the upstream: ${reason}`, { cause: error });
  }
  const timedOut = clockRanOut || code === 'UND_ERR_BODY_TIMEOUT';
  // An unsafe request that was sent may have had its effect, however it ended.
  const kind = isSafeMethod(request.method) ? 'failed' : 'unknown';
  const what = timedOut ? 'did not respond in time' : request.signal.aborted ? 'was no longer needed' : 'broke off';
  return new UpstreamError(kind, `The upstream ${what}: ${reason}`, { cause: error, timedOut });
}

/** The upstream was never reached, so the request cannot have had an effect. */
class NotConnectedError extends Error {
  constructor(
    cause: Error,
    readonly timedOut: boolean,
  ) {
    super(timedOut ? 'no connection in time' : cause.message || 'no connection', { cause });
  }
}

/** An agent for one upstream. Connection errors are marked, for they alone prove that nothing was sent. */
export function createUpstreamAgent({ connectTimeoutMs }: { readonly connectTimeoutMs: number }): Agent {
  const connect = buildConnector({ timeout: 0 });
  return new Agent({
    maxHeaderSize: MAX_HEAD_BYTES,
    connect: (options, done) => {
      let timedOut = false;
      // The connector returns its socket, which its types do not say.
      const socket = connect(options, (error, connected) => {
        clearTimeout(timer);
        if (error === null) done(null, connected);
        else done(new NotConnectedError(error, timedOut), null);
      }) as unknown as import('node:net').Socket;
      const timer = setTimeout(() => {
        timedOut = true;
        socket.destroy(new Error('time-out'));
      }, connectTimeoutMs);
    },
  });
}
