import { Agent, type Dispatcher, buildConnector } from 'undici';

import { readBody } from '../../paywall/answer/answer.js';
import { canonicalName } from '../../paywall/route/hop-by-hop-headers.js';
import {
  UpstreamError,
  type PaidRoute,
  type ProducedAnswer,
  type Resource,
  type ResourceRequest,
} from '../../paywall/route/paid-route.js';
import {
  createAnswerHeaders,
  createUpstreamHeaders,
  isSafeMethod,
  type UpstreamHeaderRules,
  CHARGE,
} from './headers.js';
import type { UpstreamPath } from './upstream-path.js';

export interface ProxyOptions {
  /** Scheme, host and port. */
  readonly origin: string;
  readonly path: UpstreamPath;
  readonly headers: UpstreamHeaderRules;
  readonly answer: PaidRoute['answer'];
  /** Whether the upstream reports the charge of each response. */
  readonly isMetered?: boolean;
  /** Limits a stored response as a whole; for a streamed one, the time to its first byte and between two chunks. */
  readonly timeoutMs: number;
  /** A larger response is streamed, also on a `stored` route. */
  readonly maxStoredAnswerBytes: number;
}

type UpstreamAnswer = Dispatcher.ResponseData & { readonly rawHeaders: readonly string[] };

const BROKEN_CONNECTION = new Set(['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE']);
const MOST_CONNECT_MS = 5_000;

/** Sells an HTTP service behind the gateway. Redirects are passed on, never followed. */
export class ProxyResource implements Resource {
  readonly #agent: Agent;

  constructor(private readonly options: ProxyOptions) {
    this.#agent = createUpstreamAgent({ connectTimeoutMs: Math.min(MOST_CONNECT_MS, options.timeoutMs / 2) });
  }

  async produce(request: ResourceRequest): Promise<ProducedAnswer> {
    const path = this.options.path.fill(request.params) + encodeQuery(request.query);
    const attempt = new AbortController();
    const stop = () => attempt.abort(new Error('the response is no longer needed'));
    request.signal.addEventListener('abort', stop, { once: true });
    if (request.signal.aborted) stop();
    let timedOut = false;
    const clock = setTimeout(() => {
      timedOut = true;
      attempt.abort(new Error(`no complete response within ${this.options.timeoutMs} ms`));
    }, this.options.timeoutMs);

    let streaming = false;
    try {
      const answer = await this.#ask(request, path, attempt.signal);
      // The reader of the body handles its errors; one that occurs while the body is not being read must not end the
      // process.
      answer.body.on('error', () => undefined);
      assertUsable(answer);
      // A streamed response is read up to its first byte: until then it can still fail without being charged.
      const body = await readBody(answer.body, this.#maxBufferedBytes);
      streaming = !Buffer.isBuffer(body);
      if (!Buffer.isBuffer(body)) body.once('close', () => request.signal.removeEventListener('abort', stop));
      const headers = this.#headersOf(answer, request.method, streaming);
      const charge = this.options.isMetered === true ? readCharge(answer.rawHeaders) : undefined;
      return { status: answer.statusCode, headers, body, ...(charge === undefined ? {} : { charge }) };
    } catch (error) {
      throw toUpstreamError(error, request, timedOut);
    } finally {
      clearTimeout(clock);
      if (!streaming) request.signal.removeEventListener('abort', stop);
    }
  }

  async close(): Promise<void> {
    await this.#agent.destroy();
  }

  async #ask(request: ResourceRequest, path: string, signal: AbortSignal): Promise<UpstreamAnswer> {
    const options: Dispatcher.RequestOptions = {
      origin: this.options.origin,
      path,
      method: request.method,
      headers: createUpstreamHeaders(request, this.options.headers),
      body: request.body,
      signal,
      headersTimeout: 0,
      bodyTimeout: this.options.timeoutMs,
      responseHeaders: 'raw',
    };
    const ask = async () => {
      const answer = await this.#agent.request(options);
      return Object.assign(answer, { rawHeaders: answer.headers as unknown as readonly string[] });
    };
    try {
      return await ask();
    } catch (error) {
      // The upstream may just have closed a kept-alive connection, so a safe request is sent once more.
      if (signal.aborted || !isSafeMethod(request.method) || !BROKEN_CONNECTION.has(codeOf(error))) throw error;
      return await ask();
    }
  }

  get #maxBufferedBytes(): number {
    return this.options.answer === 'streamed' ? 0 : this.options.maxStoredAnswerBytes;
  }

  #headersOf(answer: UpstreamAnswer, method: string, streaming: boolean): [string, string][] {
    // Content-Length lets the client of a stream notice that it broke off; a HEAD response has no body to compute it
    // from.
    const keepLength = streaming || method === 'HEAD';
    return createAnswerHeaders(answer.rawHeaders, {
      passCredentials: this.options.headers.passCredentials,
      keepLength,
    });
  }
}

/** A repeated header joins to something that is no number, and is refused as such. */
function readCharge(raw: readonly string[]): string | undefined {
  const said = raw.filter((_, at) => at % 2 === 1 && canonicalName(raw[at - 1] ?? '') === CHARGE);
  return said.length === 0 ? undefined : said.join(', ');
}

/** The query as the client sent it, byte for byte; only characters that a request line cannot contain are encoded. */
function encodeQuery(query: string): string {
  return query === '' ? '' : `?${query.replace(/[^!-~]|#/gu, encodeBytes)}`;
}

function encodeBytes(character: string): string {
  const bytes = Buffer.from(character, character <= '\xff' ? 'latin1' : 'utf8');
  return bytes.toString('hex').replace(/../g, '%$&');
}

/** @throws UpstreamError for a response that must not reach the client */
function assertUsable({ statusCode, body }: UpstreamAnswer): void {
  const why =
    statusCode === 402
      ? 'itself answered 402 Payment Required'
      : statusCode > 599
        ? `answered with status ${statusCode}`
        : null;
  if (why === null) return;
  body.destroy();
  throw new UpstreamError('failed', `The upstream ${why}.`);
}

function codeOf(error: unknown): string {
  return typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : '';
}

/** Maps an error to its meaning for the payment: see `UpstreamFailure`. */
function toUpstreamError(error: unknown, request: ResourceRequest, clockRanOut: boolean): UpstreamError {
  if (error instanceof UpstreamError) return error;
  const reason = error instanceof Error ? error.message : String(error);
  if (error instanceof NotConnectedError) {
    const { timedOut, cause } = error;
    return new UpstreamError('refused', `The upstream could not be reached: ${reason}`, { cause, timedOut });
  }
  const code = codeOf(error);
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
function createUpstreamAgent({ connectTimeoutMs }: { readonly connectTimeoutMs: number }): Agent {
  const connect = buildConnector({ timeout: 0 });
  return new Agent({
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
