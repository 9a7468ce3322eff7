export type StreamFault = 'cut' | 'unreadable' | 'failed';

/** A model's answer that began and did not reach its end. */
export class ModelStreamError extends Error {
  /**
   * @param fault `cut`: the connection ended first. `unreadable`: the data is no event of the API. `failed`: the
   * provider itself reported a failure in the middle.
   * @param text the received data, if it is informative; it is the provider's, and untrusted.
   */
  constructor(
    readonly fault: StreamFault,
    readonly text = '',
  ) {
    super(`the model's stream is broken: ${fault}`);
    this.name = 'ModelStreamError';
  }
}
