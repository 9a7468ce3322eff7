import type { JobEvent } from '@tollgate/transactions';

/** One way out for the events of all wallets. Each lane has a consumer's position of its own, under this name. */
export interface EventConsumer {
  /** Never changes: the position of its last event stands under it in Redis. */
  readonly name: string;
  /**
   * Takes a lane's next events, in order. They count as taken once this resolves; after an error all of them come again,
   * and after a crash too, always under the same ids.
   */
  take(events: readonly JobEvent[], wallet: string): Promise<void>;
}
