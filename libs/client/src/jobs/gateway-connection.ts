import { assertSecureUrl } from '../assert-secure-url.js';
import { readText } from '../read-chunks.js';
import { readSystemCode } from '../read-system-code.js';
import { sleep } from '../sleep.js';
import { AgentJobsError, readRefusal } from './agent-jobs-error.js';

export interface GatewayOptions {
  /** Of the gateway, for example `https://gate.example.com`; a path before `/agent` may stand in it. */
  baseUrl: string;
  /** `tgk_…`, as `npm run keys` printed it. */
  apiKey: string;
  /** Default: the global one. */
  fetch?: typeof globalThis.fetch;
  /** Send the API key over plain HTTP to another machine too: only on a network you trust. */
  allowInsecureHttp?: boolean;
  /** How long one request may take. Default 15 seconds. */
  timeoutMs?: number;
  /** For how long a request is sent again that had no answer, or one that asks to come back. Default 30 seconds. */
  retryForMs?: number;
}

export interface GatewayRequest {
  method: 'GET' | 'POST' | 'DELETE';
  /** From `/agent` on. */
  path: string;
  query?: Readonly<Record<string, string | undefined>>;
  body?: unknown;
  idempotencyKey?: string;
  signal?: AbortSignal | undefined;
  /** Sent once only: a second one would do it twice. */
  once?: true;
}

/** Without what was given: it may be a key with something around it. */
const NO_API_KEY = 'apiKey is no API key: one looks like tgk_<id>_<secret>, and npm run keys -- create prints it once';
/** They say that another attempt may do better. */
const COME_BACK: readonly number[] = [429, 502, 503, 504];
const FIRST_PAUSE_MS = 200;
const LONGEST_PAUSE_MS = 5_000;

/** Sends requests with the API key, again where that helps. */
export class GatewayConnection {
  readonly #baseUrl: string;
  readonly #apiKey: string;
  readonly #fetch: typeof globalThis.fetch;
  readonly #timeoutMs: number;
  readonly #retryForMs: number;

  /** @throws PaymentError `insecure_url`; TypeError for what is no URL, holds a password, or is no API key */
  constructor(options: GatewayOptions) {
    const { baseUrl, apiKey, fetch, allowInsecureHttp = false, timeoutMs = 15_000, retryForMs = 30_000 } = options;
    if (typeof baseUrl !== 'string' || !URL.canParse(baseUrl)) throw new TypeError('baseUrl is no text of a URL');
    // fetch refuses such a URL, and quotes it.
    if (hasCredentials(new URL(baseUrl))) throw new TypeError('baseUrl must not hold a user name or a password');
    assertSecureUrl(baseUrl, allowInsecureHttp);
    // Checked here, because fetch would quote the whole header in its error.
    if (typeof apiKey !== 'string' || !/^[\w-]{1,128}$/.test(apiKey)) throw new TypeError(NO_API_KEY);
    this.#baseUrl = baseUrl.replace(/\/+$/, '');
    this.#apiKey = apiKey;
    // Some browsers refuse to have it called with another `this`.
    this.#fetch = fetch ?? ((...request) => globalThis.fetch(...request));
    this.#timeoutMs = timeoutMs;
    this.#retryForMs = retryForMs;
  }

  /**
   * The successful answer, its body read.
   * @throws AgentJobsError where the gateway refuses or cannot be reached; the signal's reason
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
   * An answer whose body is read as it comes; one attempt.
   * @throws AgentJobsError, the signal's reason
   */
  async open(request: GatewayRequest & { headers: Record<string, string>; signal: AbortSignal }): Promise<Response> {
    const response = await this.#fetchOnce(request, request.signal).catch((cause: unknown) => {
      request.signal.throwIfAborted();
      throw this.#noAnswer(cause, null, false);
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

  #fetchOnce(
    { method, path, query = {}, body, idempotencyKey, headers }: GatewayRequest & { headers?: Record<string, string> },
    signal: AbortSignal,
  ): Promise<Response> {
    const url = new URL(this.#baseUrl + path);
    for (const [name, value] of Object.entries(query)) if (value !== undefined) url.searchParams.set(name, value);
    return this.#fetch(url.href, {
      method,
      headers: {
        Accept: 'application/json',
        Authorization: `Bearer ${this.#apiKey}`,
        ...(idempotencyKey !== undefined && { 'Idempotency-Key': idempotencyKey }),
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      // An API answers itself: whoever redirects is not the gateway, and must not get the key.
      redirect: 'error',
      signal,
    });
  }

  #noAnswer(cause: unknown, idempotencyKey: string | null, isTimeout: boolean): AgentJobsError {
    const code = readSystemCode(cause);
    const how = isTimeout ? ' in time' : code ? ` (${code})` : '';
    const message = `The gateway at ${new URL(this.#baseUrl).host} did not answer${how}.`;
    return new AgentJobsError('network_error', message, { idempotencyKey, cause });
  }
}

function hasCredentials({ username, password }: URL): boolean {
  return username !== '' || password !== '';
}

/** Whether the same request, with the same idempotency key, may have another outcome soon. */
export function isWorthRepeating({ status }: AgentJobsError): boolean {
  return status === null || COME_BACK.includes(status);
}

function parseBody(text: string, status: number, idempotencyKey: string | null): unknown {
  if (text === '') return null;
  try {
    return JSON.parse(text);
  } catch (cause) {
    const message = `The gateway answered ${status} with something that is no JSON.`;
    throw new AgentJobsError('answer_unreadable', message, { status, idempotencyKey, cause });
  }
}
