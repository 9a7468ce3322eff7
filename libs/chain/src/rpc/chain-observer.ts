export interface EndedBatch {
  /** Host and port of the RPC server; the rest of its URL is never exposed. */
  host: string;
  lookups: number;
  seconds: number;
  /** The `reason` of the batch's ChainUnavailableError, or `none`. */
  trouble: string;
}

/** Receives the events of the look-ups, for logs and metrics. */
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
