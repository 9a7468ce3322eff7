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
