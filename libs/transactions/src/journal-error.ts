/** The journal cannot be used as it is set up, or holds what it should not; `hint` says how to mend it. */
export class JournalError extends Error {
  override readonly name: string = 'JournalError';

  constructor(
    readonly code: string,
    message: string,
    readonly hint: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** Redis did not answer, or would not write. The transition may have been made or not: make it again. */
export class JournalUnavailableError extends JournalError {
  override readonly name = 'JournalUnavailableError';

  constructor(message: string, options?: ErrorOptions) {
    super('journal_unavailable', message, 'Check that Redis answers, takes writes and has memory left.', options);
  }
}
