import type { RequirementV1, RequirementV2, SettleResponse, VerifyResponse } from '@tollgate/protocol';

import { readWholeText } from './read-whole-text.js';

export interface FacilitatorOptions {
  /** Base URL of `/verify` and `/settle`: `https://gateway.example/facilitator`. */
  url: string;
  /** Sent as bearer token. Without one, a Tollgate gateway settles only for recipients that it lists. */
  apiKey?: string | undefined;
  /** Timeout of one request in milliseconds; default 30,000. */
  timeoutMs?: number;
}

/** The request body of both endpoints. */
export interface FacilitatorQuestion {
  x402Version: 1 | 2;
  /** As the client sent it. */
  paymentPayload: object;
  paymentRequirements: RequirementV1 | RequirementV2;
}

export interface SettleAnswer {
  response: SettleResponse;
  /**
   * Whether the facilitator returned the Idempotency-Key: its response then covers every request made under that key.
   */
  knowsKey: boolean;
}

/** The facilitator returned no verdict. */
export class FacilitatorError extends Error {
  override readonly name = 'FacilitatorError';

  /** @param status HTTP status of the response; null if there was none, or it was a 200 without a verdict */
  constructor(
    message: string,
    readonly status: number | null,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }

  /**
   * Whether the facilitator refused the request and settled nothing: a 4xx is about this server's own part, such as its
   * API key or its requirements.
   */
  get isRefused(): boolean {
    return this.status !== null && this.status >= 400 && this.status < 500 && ![408, 429].includes(this.status);
  }

  /**
   * Whether the facilitator refused the request without processing it. Other refusals may come after a failure during
   * processing.
   */
  get isTurnedAway(): boolean {
    return this.status !== null && [401, 403, 404].includes(this.status);
  }
}

const TIMEOUT_MS = 30_000;

/** HTTP client for the facilitator endpoints that a gate needs. */
export class Facilitator {
  readonly #url: string;

  constructor(private readonly options: FacilitatorOptions) {
    this.#url = options.url.replace(/\/+$/, '');
  }

  /** @throws FacilitatorError */
  async verify(question: FacilitatorQuestion): Promise<VerifyResponse> {
    const { answer } = await this.#ask('verify', question, {});
    if (typeof answer['isValid'] !== 'boolean')
      throw new FacilitatorError('The facilitator returned no verdict.', null);
    return answer as unknown as VerifyResponse;
  }

  /** @throws FacilitatorError */
  async settle(question: FacilitatorQuestion, idempotencyKey: string): Promise<SettleAnswer> {
    const { answer, headers } = await this.#ask('settle', question, { 'Idempotency-Key': idempotencyKey });
    if (typeof answer['success'] !== 'boolean' || typeof answer['transaction'] !== 'string') {
      throw new FacilitatorError('The facilitator returned no settlement result.', null);
    }
    const knowsKey = headers.get('Idempotency-Key') === idempotencyKey;
    return { response: answer as unknown as SettleResponse, knowsKey };
  }

  async #ask(
    path: string,
    question: FacilitatorQuestion,
    headers: Record<string, string>,
  ): Promise<{ answer: Record<string, unknown>; headers: Headers }> {
    const { apiKey, timeoutMs = TIMEOUT_MS } = this.options;
    const authorization = apiKey === undefined ? {} : { Authorization: `Bearer ${apiKey}` };
    const signal = AbortSignal.timeout(timeoutMs);
    try {
      const response = await fetch(`${this.#url}/${path}`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', ...authorization, ...headers },
        body: JSON.stringify(question),
        // Not followed: the API key is for this facilitator. Cloudflare Workers do not know `error`.
        redirect: 'manual',
        signal,
      });
      const text = await readWholeText(response, signal);
      if (response.status !== 200) throw createRefusal(path, response.status, text, apiKey);
      return { answer: Object(JSON.parse(text)) as Record<string, unknown>, headers: response.headers };
    } catch (error) {
      if (error instanceof FacilitatorError) throw error;
      throw new FacilitatorError(`The facilitator's /${path} cannot be reached.`, null, { cause: error });
    }
  }
}

function createRefusal(path: string, status: number, text: string, apiKey = ''): FacilitatorError {
  // Some facilitators quote the refused key.
  const quoted = (apiKey === '' ? text : text.replaceAll(apiKey, '<apiKey>')).slice(0, 300);
  const answer = `The facilitator answered ${status} at /${path}: ${quoted}`;
  const advice = adviseOn(status, apiKey !== '');
  return new FacilitatorError(advice === null ? answer : `${answer} ${advice}`, status);
}

/** Advice for the operator of this server, to be added to the error. */
function adviseOn(status: number, hasKey: boolean): string | null {
  if (status === 404) return 'Nothing can be sold until facilitator.url is the base URL of /verify and /settle.';
  if (status !== 401 && status !== 403) return null;
  return hasKey
    ? 'Nothing can be sold until facilitator.apiKey is a key that the facilitator accepts for payTo.'
    : 'Nothing can be sold without an API key that the facilitator accepts: set facilitator.apiKey.';
}

const AGAIN_AFTER_MS = 60_000;

/**
 * The default of `onTrouble`: logs each error as a warning. A facilitator that refuses this server does so for every
 * payment, so refusals are logged once a minute for each status.
 */
export function createTroubleLog(
  warn: (text: string) => void = (text) => console.warn(text),
  nowMs: () => number = () => performance.now(),
): (error: Error) => void {
  const warnedAtMs = new Map<number, number>();
  return (error) => {
    if (error instanceof FacilitatorError && error.isRefused && error.status !== null) {
      const lastMs = warnedAtMs.get(error.status);
      if (lastMs !== undefined && nowMs() - lastMs < AGAIN_AFTER_MS) return;
      warnedAtMs.set(error.status, nowMs());
    }
    warn(error.message);
  };
}
