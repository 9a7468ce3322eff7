/** A store in Redis is configured wrongly, or holds unexpected data; `hint` says what to change. */
export class StoreError extends Error {
  override readonly name: string = 'StoreError';

  constructor(
    readonly code: string,
    message: string,
    readonly hint: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/**
 * Redis did not answer, or did not write. It is unknown whether the change was made: never a verdict on a payment or a
 * job.
 */
export class StoreUnavailableError extends StoreError {
  override readonly name = 'StoreUnavailableError';

  constructor(store: 'journal' | 'ledger', message: string, options?: ErrorOptions) {
    super(`${store}_unavailable`, message, 'Check that Redis answers, accepts writes and has free memory.', options);
  }
}
