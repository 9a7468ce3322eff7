/** The journal's Redis is configured wrongly, or the journal holds unexpected data. `hint` says how to fix it. */
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

/** Redis did not answer, or refused the write. It is unknown whether the transition was made: make it again. */
export class JournalUnavailableError extends JournalError {
  override readonly name = 'JournalUnavailableError';

  constructor(message: string, options?: ErrorOptions) {
    super('journal_unavailable', message, 'Check that Redis answers, accepts writes and has free memory.', options);
  }
}
