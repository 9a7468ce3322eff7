import type { RequirementV1, RequirementV2, SettleResponse, VerifyResponse } from '@tollgate/protocol';

export interface FacilitatorOptions {
  /** Where `/verify` and `/settle` are: `https://gateway.example/facilitator`. */
  url: string;
  /** Sent as bearer token. A gateway settles without one only for recipients that it lists. */
  apiKey?: string | undefined;
  /** Milliseconds that one question may take; 30,000. */
  timeoutMs?: number;
}

/** What both endpoints are asked. */
export interface FacilitatorQuestion {
  x402Version: 1 | 2;
  /** As the client sent it. */
  paymentPayload: object;
  paymentRequirements: RequirementV1 | RequirementV2;
}

export interface SettleAnswer {
  response: SettleResponse;
  /** It named the Idempotency-Key that it was asked under: what it says is of all that was asked under that key. */
  knowsKey: boolean;
}

/** The facilitator gave no verdict. */
export class FacilitatorError extends Error {
  override readonly name = 'FacilitatorError';

  /** @param status of its answer; null where it gave none, or one of 200 that is no verdict */
  constructor(
    message: string,
    readonly status: number | null,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }

  /** It took no part of the question, and nothing was settled: a 4xx is about this server's own part, its key, its requirements. */
  get isRefused(): boolean {
    return this.status !== null && this.status >= 400 && this.status < 500 && ![408, 429].includes(this.status);
  }

  /** It did not look at the question at all. Of other refusals some say so only once something went wrong under way. */
  get isTurnedAway(): boolean {
    return this.status !== null && [401, 403, 404].includes(this.status);
  }
}

const TIMEOUT_MS = 30_000;

/** A facilitator's HTTP interface, as far as a gate needs it. */
export class Facilitator {
  readonly #url: string;

  constructor(private readonly options: FacilitatorOptions) {
    this.#url = options.url.replace(/\/+$/, '');
  }

  /** @throws FacilitatorError */
  async verify(question: FacilitatorQuestion): Promise<VerifyResponse> {
    const { answer } = await this.#ask('verify', question, {});
    if (typeof answer['isValid'] !== 'boolean') throw new FacilitatorError('The facilitator gave no verdict.', null);
    return answer as unknown as VerifyResponse;
  }

  /** @throws FacilitatorError */
  async settle(question: FacilitatorQuestion, idempotencyKey: string): Promise<SettleAnswer> {
    const { answer, headers } = await this.#ask('settle', question, { 'Idempotency-Key': idempotencyKey });
    if (typeof answer['success'] !== 'boolean' || typeof answer['transaction'] !== 'string') {
      throw new FacilitatorError('The facilitator does not say what became of the payment.', null);
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
        redirect: 'error',
        signal,
      });
      const text = await readText(response, signal);
      if (response.status !== 200) throw describeRefusal({ path, status: response.status, text, apiKey });
      return { answer: Object(JSON.parse(text)) as Record<string, unknown>, headers: response.headers };
    } catch (error) {
      if (error instanceof FacilitatorError) throw error;
      throw new FacilitatorError(`The facilitator's /${path} cannot be asked.`, null, { cause: error });
    }
  }
}

/**
 * The whole body. Having given the signal to fetch is not enough: Node 20 loses the link between the two in a garbage
 * collection, and a facilitator that falls silent would be waited for without end.
 */
async function readText(response: Response, signal: AbortSignal): Promise<string> {
  if (!response.body) return '';
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  const cancel = (): void => void reader.cancel(signal.reason).catch(() => undefined);
  signal.addEventListener('abort', cancel, { once: true });
  const decoder = new TextDecoder();
  let text = '';
  try {
    for (;;) {
      signal.throwIfAborted();
      const { done, value } = await reader.read();
      if (done) break;
      text += decoder.decode(value, { stream: true });
    }
    // A body that was cancelled ends like one that is whole.
    signal.throwIfAborted();
    return text + decoder.decode();
  } finally {
    signal.removeEventListener('abort', cancel);
    cancel();
  }
}

interface Refusal {
  path: string;
  status: number;
  text: string;
  apiKey: string | undefined;
}

function describeRefusal({ path, status, text, apiKey = '' }: Refusal): FacilitatorError {
  // Some quote the key that they refuse.
  const quoted = (apiKey === '' ? text : text.replaceAll(apiKey, '<apiKey>')).slice(0, 300);
  const answer = `The facilitator answered ${status} at /${path}: ${quoted}`;
  const hint = adviseOn(status, apiKey !== '');
  return new FacilitatorError(hint === null ? answer : `${answer} ${hint}`, status);
}

/** What who runs this server can do about it. */
function adviseOn(status: number, hasKey: boolean): string | null {
  switch (status) {
    case 401:
    case 403:
      return hasKey
        ? 'Nothing is sold until facilitator.apiKey is a key that it takes for payTo.'
        : 'Nothing is sold without an API key that it takes: set facilitator.apiKey.';
    case 404:
      return 'Nothing is sold until facilitator.url is where its /verify and /settle are.';
    default:
      return null;
  }
}
