import { LookPace } from './look-pace.js';

describe('the polling interval', () => {
  const never = new AbortController().signal;

  it('ends at once when a transaction was accepted, however long it is', async () => {
    const pace = new LookPace({ firstMs: 1, longestMs: 3_600_000 });
    const resting = pace.rest(never);
    pace.noteAccepted();
    await resting;
  });

  it('remembers a transaction that was accepted during a read', async () => {
    const pace = new LookPace({ firstMs: 1, longestMs: 3_600_000 });
    pace.noteAccepted();
    await pace.rest(never);
  });

  it('continues by itself for a transaction that was sent and never answered', async () => {
    const pace = new LookPace({ firstMs: 1, longestMs: 3_600_000 });
    pace.noteSent();
    for (let look = 0; look < 4; look++) await pace.rest(never);
  });

  it('grows where blocks take long', async () => {
    jest.useFakeTimers();
    try {
      const looksWithin150Ms = async (blockMs: number): Promise<number> => {
        const pace = new LookPace({ firstMs: 1, longestMs: 500 });
        for (let mined = 0; mined < 30; mined++) pace.noteMined(blockMs);
        pace.noteAccepted();
        let looks = 0;
        const looking = (async () => {
          for (const endMs = performance.now() + 150; performance.now() < endMs; looks++) await pace.rest(never);
        })();
        await jest.advanceTimersByTimeAsync(1000);
        await looking;
        return looks;
      };
      expect(await looksWithin150Ms(0)).toBeGreaterThan(5);
      expect(await looksWithin150Ms(400)).toBe(1);
    } finally {
      jest.useRealTimers();
    }
  });

  it('is constant where extra reads are off, and ends with the signal', async () => {
    const pace = new LookPace({ firstMs: 3_600_000, longestMs: 3_600_000 });
    const stop = new AbortController();
    let hasEnded = false;
    const resting = pace.rest(stop.signal).then(() => (hasEnded = true));
    pace.noteAccepted();
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(hasEnded).toBe(false);
    stop.abort();
    await resting;
  });
});
