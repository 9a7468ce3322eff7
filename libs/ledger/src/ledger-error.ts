/** The ledger cannot be used as configured; `hint` says what to change. */
export class LedgerError extends Error {
  override readonly name: string = 'LedgerError';

  constructor(
    readonly code: string,
    message: string,
    readonly hint: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** Redis did not answer, or did not write. Never a verdict on a payment: the caller answers 503. */
export class LedgerUnavailableError extends LedgerError {
  override readonly name = 'LedgerUnavailableError';

  constructor(message: string, options?: ErrorOptions) {
    super('ledger_unavailable', message, 'Check that Redis answers, takes writes and has memory left.', options);
  }
}
