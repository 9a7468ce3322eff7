/** An invalid job request. Nothing was stored or sent for it. */
export class JobRequestError extends Error {
  override readonly name = 'JobRequestError';
  readonly code = 'request_invalid';

  /** @param problems each names its field, such as `input.amount`, and never contains the value */
  constructor(readonly problems: readonly string[]) {
    super(`The job request is invalid: ${problems.join('; ')}.`);
  }
}
