import type { LookupFunction } from 'node:net';

import { Agent, buildConnector, fetch } from 'undici';

import { createTargetResolver } from './resolve-target.js';
import { assertPublicHost, parseTarget, TargetRefusedError, type TargetRules } from './target-rules.js';

export interface SafeFetchOptions extends TargetRules {
  /** From the call to the last byte of the body, including all redirects. */
  timeoutMs: number;
  /** Reading a longer body fails. */
  maxResponseBytes: number;
  /** The caller reads no body: its coding does not matter. */
  ignoresBody?: boolean;
  /** Only GET and HEAD follow redirects, and not with `redirect: 'manual'`; default 3. */
  maxRedirects?: number;
}

/** A `fetch` for URLs from untrusted sources. */
export interface SafeFetch {
  /**
   * Takes a URL and the options `method`, `headers`, `body` (text or bytes), `signal` and `redirect`.
   * @throws TargetRefusedError for a URL that it refuses; otherwise what `fetch` throws
   */
  fetch: typeof globalThis.fetch;
  /** Aborts the requests in flight. */
  close(): Promise<void>;
}

const MAX_HEADER_BYTES = 16 * 1024;
const CONNECT_TIMEOUT_MS = 10_000;
const DEFAULT_MAX_REDIRECTS = 3;
const REDIRECTS = [301, 302, 303, 307, 308];
/** The only headers that are passed on when a request is redirected to another origin. */
const SHARED_HEADERS = ['accept', 'accept-language', 'user-agent'];

type Init = NonNullable<Parameters<typeof globalThis.fetch>[1]>;
type Sent = Awaited<ReturnType<typeof fetch>>;

/**
 * Creates a `fetch` that refuses private addresses. It checks the address that it connects to, so a changed DNS answer
 * does not get around the check. It uses no proxy, refuses compressed answers, and follows redirects itself, each under
 * the same rules.
 */
export function createSafeFetch(options: SafeFetchOptions): SafeFetch {
  const agent = createAgent(options);
  return {
    fetch: async (input, init = {}) => {
      if (input instanceof Request) throw new TypeError('pass a URL and options, not a Request');
      const deadline = startDeadline(options.timeoutMs, init.signal);
      // undici's Response has the same members as the global one but is another class, and in a browser's types another type.
      const response: unknown = await follow(input, { ...init, signal: deadline }, agent, options);
      return response as Response;
    },
    close: () => agent.destroy(),
  };
}

function createAgent(options: SafeFetchOptions): Agent {
  const { timeoutMs, maxResponseBytes, allowPrivateTargets } = options;
  const connect = buildConnector({
    lookup: createLookup(options),
    timeout: Math.min(timeoutMs, CONNECT_TIMEOUT_MS),
  });
  return new Agent({
    connect: (target, callback) => {
      try {
        // Numeric addresses are connected to without a look-up.
        if (!allowPrivateTargets) assertPublicHost(target.hostname);
      } catch (error) {
        return callback(error as Error, null);
      }
      connect(target, callback);
    },
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
    maxHeaderSize: MAX_HEADER_BYTES,
    maxResponseSize: maxResponseBytes,
  });
}

function createLookup(rules: TargetRules): LookupFunction {
  const resolve = createTargetResolver(rules);
  return (hostname, { all }, callback) => {
    resolve(hostname).then(
      (addresses) => {
        if (all) callback(null, addresses);
        else callback(null, addresses[0]?.address ?? '', addresses[0]?.family);
      },
      (error: NodeJS.ErrnoException) => callback(error, '', 4),
    );
  };
}

/** Aborts at the deadline, or with the caller's signal. This also ends a body that is not read. */
function startDeadline(timeoutMs: number, callers: AbortSignal | null | undefined): AbortSignal {
  const controller = new AbortController();
  const abort = () => {
    clearTimeout(timer);
    controller.abort(callers?.reason);
  };
  const timer = setTimeout(() => {
    callers?.removeEventListener('abort', abort);
    controller.abort(new DOMException('The server took too long to answer.', 'TimeoutError'));
  }, timeoutMs);
  timer.unref();
  if (callers?.aborted) abort();
  else callers?.addEventListener('abort', abort, { once: true });
  return controller.signal;
}

async function follow(input: string | URL, init: Init, agent: Agent, options: SafeFetchOptions): Promise<Sent> {
  const { maxRedirects = DEFAULT_MAX_REDIRECTS } = options;
  const method = (init.method ?? 'GET').toUpperCase();
  let url = parseTarget(input, options);
  let headers = new Headers(init.headers);
  for (let redirects = 0; ; redirects++) {
    const response = await send(url, { ...init, method, headers }, agent, options);
    const location = REDIRECTS.includes(response.status) ? response.headers.get('location') : null;
    if (location === null || init.redirect === 'manual') return response;
    await response.body?.cancel();
    if (redirects >= maxRedirects || init.redirect === 'error' || !['GET', 'HEAD'].includes(method)) {
      throw new TargetRefusedError(
        'too_many_redirects',
        `${url.host} redirects too often, or redirects a request that must not be redirected.`,
      );
    }
    if (!URL.canParse(location, url.href))
      throw new TargetRefusedError('malformed_url', 'A redirect leads to something that is not a URL.');
    const target = parseTarget(new URL(location, url), options);
    if (target.origin !== url.origin) headers = keepShared(headers);
    url = target;
  }
}

async function send(
  url: URL,
  init: Init & { headers: Headers },
  agent: Agent,
  { ignoresBody = false }: SafeFetchOptions,
): Promise<Sent> {
  const { method, body, signal } = init;
  const headers = { ...Object.fromEntries(init.headers), 'accept-encoding': 'identity' };
  const response = await fetch(url, {
    method: method ?? 'GET',
    headers,
    body: (body ?? null) as string | Uint8Array | null,
    signal: signal ?? null,
    redirect: 'manual',
    dispatcher: agent,
  }).catch((error: unknown) => {
    throw error instanceof TypeError && error.cause instanceof TargetRefusedError ? error.cause : error;
  });
  const encoding = response.headers.get('content-encoding') ?? 'identity';
  if (ignoresBody || encoding.toLowerCase() === 'identity') return response;
  await response.body?.cancel();
  throw new TargetRefusedError(
    'encoded_answer',
    `${url.host} compressed its answer although compression was not accepted.`,
  );
}

function keepShared(headers: Headers): Headers {
  return new Headers([...headers].filter(([name]) => SHARED_HEADERS.includes(name)));
}
