const STALLED_AFTER_MS = 60_000;

let progressedMs = 0;

/** Something was answered, mined or ended. */
export function noteProgress(): void {
  progressedMs = performance.now();
}

/** Does the work; rejects with a sentence when it has noted no progress for a minute. */
export async function failWhenStalled<T>(what: string, work: () => Promise<T>, afterMs = STALLED_AFTER_MS): Promise<T> {
  noteProgress();
  let timer: NodeJS.Timeout | undefined;
  const stalled = new Promise<never>((_, reject) => {
    timer = setInterval(() => {
      if (performance.now() - progressedMs < afterMs) return;
      reject(new Error(`${what} made no progress for ${afterMs / 1000} s: nothing was answered, mined or ended.`));
    }, afterMs / 20);
  });
  try {
    return await Promise.race([work(), stalled]);
  } finally {
    clearInterval(timer);
  }
}
