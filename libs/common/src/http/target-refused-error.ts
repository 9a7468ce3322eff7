export type TargetRefusal =
  | 'malformed_url'
  | 'insecure_url'
  /** The address, or an address of the host name, is not on the public internet. */
  | 'private_target'
  | 'unknown_host'
  | 'too_many_redirects'
  /** The answer is compressed although the request refused that: a few bytes of it may expand without limit. */
  | 'encoded_answer';

/** A URL from an untrusted source that is not requested. The message is one sentence without an address. */
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
