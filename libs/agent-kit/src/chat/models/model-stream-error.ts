export type StreamFault = 'cut' | 'unreadable' | 'failed';

/** A model's answer that began and did not come to its end. */
export class ModelStreamError extends Error {
  /**
   * @param fault `cut`: the connection ended first. `unreadable`: what came is no event of the API. `failed`: the provider
   * itself reported a failure in the middle.
   * @param text what came, where it says something; of the provider, and not to be trusted.
   */
  constructor(
    readonly fault: StreamFault,
    readonly text = '',
  ) {
    super(`the model's stream is broken: ${fault}`);
    this.name = 'ModelStreamError';
  }
}
