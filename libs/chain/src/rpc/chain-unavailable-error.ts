const CHAIN_BEHIND_MS = 1_000;

export type ChainTrouble =
  | 'rpc_unreachable'
  | 'rpc_timeout'
  | 'rpc_rate_limited'
  | 'rpc_http_error'
  | 'rpc_response_too_large'
  | 'rpc_malformed'
  | 'rpc_wrong_chain'
  | 'rpc_error'
  | 'rpc_inconsistent'
  /** The newest block is older than the start of a payment's validity, and no later time can be simulated. */
  | 'chain_behind'
  | 'deadline_passed'
  | 'shutting_down';

/** The chain did not answer, or its answer is not valid. Never a verdict on a payment. */
export class ChainUnavailableError extends Error {
  override readonly name = 'ChainUnavailableError';
  /** Milliseconds until the chain is asked about this again, if known. */
  readonly retryAfterMs: number | undefined;
  /** What the server itself says, if anything: untrusted, and it may name an address or a key. */
  readonly words: string | undefined;

  constructor(
    readonly reason: ChainTrouble,
    /** One sentence without the RPC URL, which may carry an API key. */
    message: string,
    options: ErrorOptions & { retryAfterMs?: number; words?: string } = {},
  ) {
    super(message, options);
    this.retryAfterMs = options.retryAfterMs;
    this.words = options.words;
  }
}

/** Why a payment that has just become valid must wait for the next block. */
export function chainBehind(): ChainUnavailableError {
  const message = "The newest block is older than the start of the payment's validity. Retry after the next block.";
  return new ChainUnavailableError('chain_behind', message, { retryAfterMs: CHAIN_BEHIND_MS });
}

/** The server answered a request with this status, and without JSON-RPC. */
export class RpcStatusError extends ChainUnavailableError {
  constructor(readonly status: number) {
    const reason = status === 429 ? 'rpc_rate_limited' : 'rpc_http_error';
    super(reason, `The RPC server answered with status ${status}.`);
  }
}

/** The server answered several calls with one error. */
export class BatchRefusedError extends ChainUnavailableError {
  constructor({ code, message }: Record<string, unknown>) {
    const words = typeof message === 'string' ? { words: message } : {};
    super('rpc_error', `The RPC server refused the request with code ${String(code)}.`, words);
  }
}

/** An answer that was cut off at its size limit. */
export class AnswerTooLongError extends ChainUnavailableError {
  constructor(
    maxBytes: number,
    /** The part that was read. */
    readonly beginning: string,
  ) {
    super('rpc_response_too_large', `The RPC server's answer has more than ${maxBytes} bytes.`);
  }

  /** It begins as a batch of answers, not as an error page. */
  get isOfBatch(): boolean {
    return BATCH.test(this.beginning);
  }

  /** It contains a receipt. */
  get isOfReceipt(): boolean {
    return this.isOfBatch && LOGS.test(this.beginning);
  }
}

/**
 * The transaction's receipt is longer than that of any payment. The chain is fine, and a retry gives the same result.
 */
export class ReceiptTooLargeError extends ChainUnavailableError {
  constructor(retryAfterMs: number) {
    super('rpc_response_too_large', 'The receipt is longer than the limit RPC_MAX_RECEIPT_BYTES.', { retryAfterMs });
  }
}

const BATCH = /^\s*\[\s*\{/;
const LOGS = /"logs"\s*:\s*\[\s*\{/;
