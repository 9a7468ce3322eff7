import type { Readable } from 'node:stream';

import type { Agent, Dispatcher } from 'undici';

import { codingOf, isReadable, makeReadable } from '../../paywall/route/content-coding.js';
import { canonicalName } from '../../paywall/route/hop-by-hop-headers.js';
import {
  UpstreamError,
  type PaidRoute,
  type ProducedAnswer,
  type Resource,
  type ResourceRequest,
} from '../../paywall/route/paid-route.js';
import { readBody } from '../../paywall/route/read-body.js';
import {
  createAnswerHeaders,
  createUpstreamHeaders,
  isSafeMethod,
  type UpstreamHeaderRules,
  CHARGE,
} from './headers.js';
import type { PublicPaths } from './public-paths.js';
import { Redirects, type Responded } from './redirects.js';
import { errorCodeOf, createUpstreamAgent, toUpstreamError } from './upstream-agent.js';
import type { UpstreamPath } from './upstream-path.js';

export interface ProxyOptions {
  /** Scheme, host and port. */
  readonly origin: string;
  readonly path: UpstreamPath;
  readonly publicPaths: PublicPaths;
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
/** The methods whose body has no meaning that servers agree on (RFC 9110, sections 9.3.1 and 9.3.5). */
const BODY_UNDEFINED = new Set(['GET', 'DELETE']);
const MOST_CONNECT_MS = 5_000;
const MOST_FOLLOWED = 2;

/**
 * Sells an HTTP service behind the gateway. No redirect is followed but one to another spelling of the same path: the
 * gateway asks no host but this one.
 */
export class ProxyResource implements Resource {
  readonly #agent: Agent;
  readonly #redirects: Redirects;

  constructor(private readonly options: ProxyOptions) {
    this.#redirects = new Redirects(options.publicPaths, options.path);
    this.#agent = createUpstreamAgent({ connectTimeoutMs: Math.min(MOST_CONNECT_MS, options.timeoutMs / 2) });
  }

  async produce(request: ResourceRequest): Promise<ProducedAnswer> {
    const path = this.options.path.fill(request.sent) + encodeQuery(request.query);
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
      const { answer, ...responded } = await this.#follow(request, path, attempt.signal);
      const movedTo = this.#judge(request, answer, responded);
      // A streamed response is read up to its first byte: until then it can still fail without being charged.
      const body = await readBody(answer.body, this.#maxBufferedBytes);
      streaming = !Buffer.isBuffer(body);
      if (!Buffer.isBuffer(body)) body.once('close', () => request.signal.removeEventListener('abort', stop));
      const headers = this.#headersOf(responded, movedTo, streaming || request.method === 'HEAD');
      const readable = await this.#makeReadable(request, headers, body);
      const charge = this.options.isMetered === true ? readCharge(answer.rawHeaders) : undefined;
      return {
        status: answer.statusCode,
        ...(movedTo !== null && { isMoved: true }),
        ...readable,
        ...(charge === undefined ? {} : { charge }),
      };
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

  /** Asks, and asks a GET again where the upstream only spells the path in another way. */
  async #follow(
    request: ResourceRequest,
    path: string,
    signal: AbortSignal,
  ): Promise<Responded & { readonly answer: UpstreamAnswer }> {
    const { origin } = this.options;
    for (let asked = path, left = MOST_FOLLOWED; ; left -= 1) {
      const answer = await this.#ask(request, asked, signal);
      // The reader of the body handles its errors; one that occurs while the body is not being read must not end the
      // process.
      answer.body.on('error', () => undefined);
      const responded = { status: answer.statusCode, raw: answer.rawHeaders, url: new URL(origin + asked) };
      const next = request.method === 'GET' && left > 0 ? this.#redirects.findSpelling(responded) : null;
      if (next === null) return { answer, ...responded };
      answer.body.destroy();
      asked = next;
    }
  }

  /**
   * Where a redirect that is no answer sends the client, or null.
   * @throws UpstreamError for a response that must not reach the client
   */
  #judge(request: ResourceRequest, answer: UpstreamAnswer, responded: Responded): string | null {
    try {
      assertUsable(answer);
      return this.#redirects.findMove(request, responded);
    } catch (error) {
      answer.body.destroy();
      throw error;
    }
  }

  async #ask(request: ResourceRequest, path: string, signal: AbortSignal): Promise<UpstreamAnswer> {
    const options: Dispatcher.RequestOptions = {
      origin: this.options.origin,
      path,
      method: request.method,
      headers: createUpstreamHeaders(request, this.options.headers, this.options.answer),
      body: request.body,
      // A server that ignores this body would read it as the next request of the connection.
      reset: request.body !== null && BODY_UNDEFINED.has(request.method),
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
      if (signal.aborted || !isSafeMethod(request.method) || !BROKEN_CONNECTION.has(errorCodeOf(error))) throw error;
      return await ask();
    }
  }

  /**
   * A stored answer as the client reads it; a streamed one passes as it is.
   * @throws UpstreamError for one in a coding that the client has not asked for, and that cannot be decoded
   */
  async #makeReadable(
    { headers: { 'accept-encoding': accepted } }: ResourceRequest,
    headers: [string, string][],
    body: Buffer | Readable,
  ): Promise<Pick<ProducedAnswer, 'headers' | 'body'>> {
    const coding = this.options.answer === 'streamed' ? null : codingOf(headers);
    if (coding === null) return { headers, body };
    if (Buffer.isBuffer(body)) {
      const readable = await makeReadable({ headers, body }, accepted, this.options.maxStoredAnswerBytes);
      if (readable !== null) return readable;
    } else if (isReadable(coding, accepted)) return { headers, body };
    else body.destroy();
    throw new UpstreamError(
      'failed',
      `The upstream answered in the content coding ${JSON.stringify(coding.slice(0, 100))}, which the client does not read, and which cannot be decoded within the limits. It should do as Accept-Encoding says.`,
    );
  }

  get #maxBufferedBytes(): number {
    return this.options.answer === 'streamed' ? 0 : this.options.maxStoredAnswerBytes;
  }

  /**
   * @param keepLength Content-Length lets the client of a stream notice that it broke off; a HEAD response has no body
   * to compute it from
   */
  #headersOf({ raw, url }: Responded, movedTo: string | null, keepLength: boolean): [string, string][] {
    const headers = createAnswerHeaders(raw, {
      passCredentials: this.options.headers.passCredentials,
      keepLength,
      answer: this.options.answer,
      publish: (reference) => this.#redirects.publish(reference, url),
    });
    if (movedTo === null) return headers;
    return [...headers.filter(([name]) => name !== 'location'), ['location', movedTo]];
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
function assertUsable({ statusCode }: UpstreamAnswer): void {
  const why =
    statusCode === 402
      ? 'itself answered 402 Payment Required'
      : statusCode > 599
        ? `answered with status ${statusCode}`
        : null;
  if (why !== null) throw new UpstreamError('failed', `The upstream ${why}.`);
}
