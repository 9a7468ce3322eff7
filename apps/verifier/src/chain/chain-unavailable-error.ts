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
  | 'deadline_passed'
  /** No fault of the chain: as many payments wait for it as may. */
  | 'waiting_room_full'
  /** Nor this: a client has had too much looked up. */
  | 'client_share_used_up'
  /** No fault of the chain: contract wallets have as many payments under way as may burn their gas. */
  | 'contract_wallets_busy'
  /** Nor this: what contract wallets have burnt is not known. */
  | 'redis_unavailable'
  | 'shutting_down';

/** The chain could not be asked, or its answer cannot be believed. Never a verdict about a payment. */
export class ChainUnavailableError extends Error {
  override readonly name = 'ChainUnavailableError';
  /** Milliseconds until the chain is asked about it again, where that is known. */
  readonly retryAfterMs: number | undefined;

  constructor(
    readonly reason: ChainTrouble,
    /** One sentence without the RPC URL: it may carry an API key. */
    message: string,
    options: ErrorOptions & { retryAfterMs?: number } = {},
  ) {
    super(message, options);
    this.retryAfterMs = options.retryAfterMs;
  }
}

/** An answer was cut off at the bound for it. */
export class AnswerTooLongError extends ChainUnavailableError {
  constructor(
    maxBytes: number,
    /** As far as it was read. */
    readonly beginning: string,
  ) {
    super('rpc_response_too_large', `The RPC server's answer has more than ${maxBytes} bytes.`);
  }

  /** What came were answers, and no error page. */
  get isOfBatch(): boolean {
    return BATCH.test(this.beginning);
  }

  /** A receipt was among them. */
  get isOfReceipt(): boolean {
    return this.isOfBatch && LOGS.test(this.beginning);
  }
}

/** A transaction's receipt is longer than that of any payment: no trouble of the chain's, and no other try changes it. */
export class ReceiptTooLargeError extends ChainUnavailableError {
  constructor(retryAfterMs: number) {
    super('rpc_response_too_large', 'The receipt is longer than what is read of one.', { retryAfterMs });
  }
}

const BATCH = /^\s*\[\s*\{/;
const LOGS = /"logs"\s*:\s*\[\s*\{/;
