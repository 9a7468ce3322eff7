/** Shares one reading among all callers within `freshMs`; a reading that fails is not kept. */
export function keepFresh<T>(freshMs: number, read: () => Promise<T>): () => Promise<T> {
  let kept: { reading: Promise<T>; sinceMs: number } | null = null;
  return () => {
    if (kept && performance.now() - kept.sinceMs < freshMs) return kept.reading;
    const reading = read();
    const mine = { reading, sinceMs: performance.now() };
    kept = mine;
    reading.catch(() => {
      if (kept === mine) kept = null;
    });
    return reading;
  };
}
