import { assertSecureUrl } from '../network/assert-secure-url.js';
import { readText } from '../network/read-body.js';
import { readSystemCode } from '../network/read-system-code.js';
import { sleep } from '../network/sleep.js';
import { AgentJobsError, readRefusal } from './agent-jobs-error.js';

export interface GatewayOptions {
  /** Base URL of the gateway, for example `https://gate.example.com`; it may contain a path before `/agent`. */
  baseUrl: string;
  /** `tgk_…`, as printed by `npm run keys`. */
  apiKey: string;
  /** Default: the global fetch. */
  fetch?: typeof globalThis.fetch;
  /** Allows sending the API key over plain HTTP to another machine: only on a network you trust. */
  allowInsecureHttp?: boolean;
  /** Time limit for one request. Default 15 seconds. */
  timeoutMs?: number;
  /** How long a request is repeated when there is no answer, or the answer asks to retry later. Default 30 seconds. */
  retryForMs?: number;
}

export interface GatewayRequest {
  method: 'GET' | 'POST' | 'DELETE';
  /** The path, starting with `/agent`. */
  path: string;
  query?: Readonly<Record<string, string | undefined>>;
  body?: unknown;
  idempotencyKey?: string;
  signal?: AbortSignal | undefined;
  /** The request is sent only once, because a second one would repeat its effect. */
  once?: true;
}

/** The given value is not repeated: it may be a key with extra characters. */
const NO_API_KEY =
  'apiKey is not an API key. A key looks like tgk_<id>_<secret>; npm run keys -- create prints it once.';
/** Statuses for which another attempt may succeed. */
const COME_BACK: readonly number[] = [429, 502, 503, 504];
const FIRST_PAUSE_MS = 200;
const LONGEST_PAUSE_MS = 5_000;

/** Sends requests with the API key, and repeats them where that helps. */
export class GatewayConnection {
  readonly #baseUrl: string;
  readonly #apiKey: string;
  readonly #fetch: typeof globalThis.fetch;
  readonly #timeoutMs: number;
  readonly #retryForMs: number;

  /**
   * @throws PaymentError `insecure_url`; TypeError for a value that is not a URL or API key, or a URL that contains a
   * password
   */
  constructor(options: GatewayOptions) {
    const { baseUrl, apiKey, fetch, allowInsecureHttp = false, timeoutMs = 15_000, retryForMs = 30_000 } = options;
    if (typeof baseUrl !== 'string' || !URL.canParse(baseUrl)) throw new TypeError('baseUrl is not the text of a URL');
    const { username, password } = new URL(baseUrl);
    // fetch refuses such a URL, and its error quotes it.
    if (username !== '' || password !== '') throw new TypeError('baseUrl must not contain a user name or a password');
    assertSecureUrl(baseUrl, allowInsecureHttp);
    // Checked here, because fetch would quote the whole header in its error.
    if (typeof apiKey !== 'string' || !/^[\w-]{1,128}$/.test(apiKey)) throw new TypeError(NO_API_KEY);
    this.#baseUrl = baseUrl.replace(/\/+$/, '');
    this.#apiKey = apiKey;
    // Browsers refuse a fetch that is called as a method.
    this.#fetch = (...request) => (fetch ?? globalThis.fetch)(...request);
    this.#timeoutMs = timeoutMs;
    this.#retryForMs = retryForMs;
  }

  /**
   * The successful answer, with its body read.
   * @throws AgentJobsError if the gateway refuses or cannot be reached; the signal's reason
   */
  async send(request: GatewayRequest): Promise<{ response: Response; body: unknown }> {
    const untilMs = performance.now() + this.#retryForMs;
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
      const outcome = await this.#try(request);
      if (!(outcome instanceof AgentJobsError)) return outcome;
      const waitMs = outcome.retryAfterMs ?? pauseMs * (0.5 + Math.random() / 2);
      if (request.once || !isWorthRepeating(outcome) || performance.now() + waitMs > untilMs) throw outcome;
      await sleep(waitMs, request.signal ?? null);
    }
  }

  /**
   * An answer whose body is read as it arrives; one attempt.
   * @throws AgentJobsError, the signal's reason
   */
  async open(request: GatewayRequest & { headers: Record<string, string>; signal: AbortSignal }): Promise<Response> {
    const response = await this.#fetchOnce(request, request.signal).catch((cause: unknown) => {
      request.signal.throwIfAborted();
      throw cause instanceof AgentJobsError ? cause : this.#noAnswer(cause, null, false);
    });
    if (response.ok) return response;
    throw await readRefusal(response, null, request.signal);
  }

  async #try(request: GatewayRequest): Promise<{ response: Response; body: unknown } | AgentJobsError> {
    const key = request.idempotencyKey ?? null;
    const timeout = AbortSignal.timeout(this.#timeoutMs);
    try {
      const signal = request.signal ? AbortSignal.any([request.signal, timeout]) : timeout;
      const response = await this.#fetchOnce(request, signal);
      if (!response.ok) return await readRefusal(response, key, signal);
      return { response, body: parseBody(await readText(response, signal), response.status, key) };
    } catch (cause) {
      request.signal?.throwIfAborted();
      return cause instanceof AgentJobsError ? cause : this.#noAnswer(cause, key, timeout.aborted);
    }
  }

  async #fetchOnce(
    { method, path, query = {}, body, idempotencyKey, headers }: GatewayRequest & { headers?: Record<string, string> },
    signal: AbortSignal,
  ): Promise<Response> {
    const url = new URL(this.#baseUrl + path);
    for (const [name, value] of Object.entries(query)) if (value !== undefined) url.searchParams.set(name, value);
    const response = await this.#fetch(url.href, {
      method,
      headers: {
        Accept: 'application/json',
        Authorization: `Bearer ${this.#apiKey}`,
        ...(idempotencyKey !== undefined && { 'Idempotency-Key': idempotencyKey }),
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      // An API does not redirect: a server that does is not the gateway, and must not receive the key. Cloudflare Workers
      // do not know `error`.
      redirect: 'manual',
      signal,
    });
    // In a browser a redirect has the status 0.
    if (response.type !== 'opaqueredirect' && (response.status < 300 || response.status > 399)) return response;
    await response.body?.cancel();
    throw new AgentJobsError(
      'redirect_refused',
      `${url.host} redirects the request, which is not followed with the API key: baseUrl must name the gateway itself.`,
      { status: response.status, idempotencyKey: idempotencyKey ?? null },
    );
  }

  #noAnswer(cause: unknown, idempotencyKey: string | null, isTimeout: boolean): AgentJobsError {
    const code = readSystemCode(cause);
    const how = isTimeout ? ' in time' : code ? ` (${code})` : '';
    const message = `The gateway at ${new URL(this.#baseUrl).host} did not answer${how}.`;
    return new AgentJobsError('network_error', message, { idempotencyKey, cause });
  }
}

/** Whether repeating the same request, with the same idempotency key, may soon have another outcome. */
export function isWorthRepeating({ status }: AgentJobsError): boolean {
  return status === null || COME_BACK.includes(status);
}

function parseBody(text: string, status: number, idempotencyKey: string | null): unknown {
  if (text === '') return null;
  try {
    return JSON.parse(text);
  } catch (cause) {
    const message = `The gateway answered ${status} with a body that is not JSON.`;
    throw new AgentJobsError('answer_unreadable', message, { status, idempotencyKey, cause });
  }
}
