/** What runs until it is stopped. */
interface Part {
  stop(): Promise<unknown>;
}

export interface KeptParts {
  /** Notes a part that has started. */
  keep: <One extends Part>(part: One) => One;
  /** Stops the parts one after the other, the last one first. */
  stop: () => Promise<void>;
}

/** Notes parts as they start, to stop them together. */
export function keepParts(): KeptParts {
  const kept: Part[] = [];
  return {
    keep: (part) => {
      kept.push(part);
      return part;
    },
    stop: async () => {
      for (let part = kept.pop(); part !== undefined; part = kept.pop()) await part.stop();
    },
  };
}
