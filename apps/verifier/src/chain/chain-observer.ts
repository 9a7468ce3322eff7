export interface EndedBatch {
  /** Host and port of the RPC server, never more of its URL. */
  host: string;
  /** Look-ups in it. */
  payments: number;
  seconds: number;
  /** Why it failed, or `none`. */
  reason: string;
}

/** What the look-ups tell about themselves. */
export interface ChainObserver {
  batchEnded(batch: EndedBatch): void;
  queueChanged(waitingForASlot: number, batchesInFlight: number): void;
}
