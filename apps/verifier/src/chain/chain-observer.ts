export interface EndedBatch {
  /** Host and port of the RPC server, never more of its URL. */
  host: string;
  lookups: number;
  seconds: number;
  /** The reason of its ChainUnavailableError, or `none`. */
  trouble: string;
}

/** What the look-ups tell about themselves. */
export interface ChainObserver {
  batchEnded(batch: EndedBatch): void;
  queueChanged(lookupsQueued: number, batchesInFlight: number): void;
}

export function combineObservers(...observers: ChainObserver[]): ChainObserver {
  return {
    batchEnded: (batch) => observers.forEach((observer) => observer.batchEnded(batch)),
    queueChanged: (queued, inFlight) => observers.forEach((observer) => observer.queueChanged(queued, inFlight)),
  };
}
