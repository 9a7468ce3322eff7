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

/** The facilitator gave no verdict. `isRefused`: it took no part of the question, and nothing was settled. */
export class FacilitatorError extends Error {
  override readonly name = 'FacilitatorError';

  constructor(
    message: string,
    readonly isRefused: boolean,
    options?: ErrorOptions,
  ) {
    super(message, options);
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
    if (typeof answer['isValid'] !== 'boolean') throw new FacilitatorError('The facilitator gave no verdict.', false);
    return answer as unknown as VerifyResponse;
  }

  /** @throws FacilitatorError */
  async settle(question: FacilitatorQuestion, idempotencyKey: string): Promise<SettleAnswer> {
    const { answer, headers } = await this.#ask('settle', question, { 'Idempotency-Key': idempotencyKey });
    if (typeof answer['success'] !== 'boolean' || typeof answer['transaction'] !== 'string') {
      throw new FacilitatorError('The facilitator does not say what became of the payment.', false);
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
    try {
      const response = await fetch(`${this.#url}/${path}`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', ...authorization, ...headers },
        body: JSON.stringify(question),
        redirect: 'error',
        signal: AbortSignal.timeout(timeoutMs),
      });
      const text = await response.text();
      if (response.status !== 200) throw refuse(path, response.status, text);
      return { answer: Object(JSON.parse(text)) as Record<string, unknown>, headers: response.headers };
    } catch (error) {
      if (error instanceof FacilitatorError) throw error;
      throw new FacilitatorError(`The facilitator's /${path} cannot be asked.`, false, { cause: error });
    }
  }
}

/** A 4xx is about this server's own part of the question: its key, its requirements. */
function refuse(path: string, status: number, text: string): FacilitatorError {
  const isRefused = status >= 400 && status < 500 && status !== 408 && status !== 429;
  return new FacilitatorError(`The facilitator answered ${status} at /${path}: ${text.slice(0, 300)}`, isRefused);
}
