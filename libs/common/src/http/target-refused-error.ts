export type TargetRefusal =
  | 'malformed_url'
  | 'insecure_url'
  /** An address that is not of the public internet, or a name for one. */
  | 'private_target'
  | 'unknown_host'
  | 'too_many_redirects'
  /** The answer is compressed, which nobody asked for: a few bytes of it may become as many as the server likes. */
  | 'encoded_answer';

/** A URL that somebody else chose, and that is not asked. The message is one sentence and tells no address. */
export class TargetRefusedError extends Error {
  override readonly name = 'TargetRefusedError';

  constructor(
    readonly code: TargetRefusal,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
