/** A request that is no job. Nothing was stored or sent for it. */
export class JobRequestError extends Error {
  override readonly name = 'JobRequestError';
  readonly code = 'request_invalid';

  /** @param problems each names its field, as `input.amount`, and never holds the value */
  constructor(readonly problems: readonly string[]) {
    super(`This is no job: ${problems.join('; ')}.`);
  }
}
