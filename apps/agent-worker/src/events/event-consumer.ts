import type { JobEvent } from '@tollgate/journal';

/** One destination for the events of all wallets. Each lane stores its position under this name. */
export interface EventConsumer {
  /** Must never change: Redis stores the position of the last event under this name. */
  readonly name: string;
  /**
   * Receives a lane's next events, in order. They count as delivered once this resolves. After an error or a crash all
   * of them are delivered again, with the same ids.
   */
  take(events: readonly JobEvent[], wallet: string): Promise<void>;
}
