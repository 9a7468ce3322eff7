import { failWhenStalled, noteProgress } from '../../bench/fail-when-stalled.js';

const LIMIT_MS = 200;

// Prevents: a lane whose chain stopped mining hangs until somebody looks.
describe('failWhenStalled', () => {
  afterEach(() => void jest.useRealTimers());

  it('ends work that makes no progress with a sentence that names it', async () => {
    const work = () => new Promise<void>(() => undefined);
    await expect(failWhenStalled('tollgate (automine)', work, LIMIT_MS)).rejects.toThrow(
      'tollgate (automine) made no progress for 0.2 s: nothing was answered, mined or ended.',
    );
  });

  it('counts from the last progress, so slow work goes on', async () => {
    jest.useFakeTimers();
    let outcome = 'goes on';
    const work = () => new Promise<void>(() => undefined);
    void failWhenStalled('slow work', work, LIMIT_MS).catch((error: unknown) => (outcome = String(error)));
    for (let step = 0; step < 6; step++) {
      await jest.advanceTimersByTimeAsync(0.9 * LIMIT_MS);
      noteProgress();
    }
    expect(outcome).toBe('goes on');
    await jest.advanceTimersByTimeAsync(LIMIT_MS);
    expect(outcome).toContain('slow work made no progress');
  });

  it('gives back what the work gives, and leaves no timer', async () => {
    const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
    const before = timers();
    await expect(failWhenStalled('quick work', () => Promise.resolve(7), LIMIT_MS)).resolves.toBe(7);
    await expect(
      failWhenStalled('failing work', () => Promise.reject(new Error('no answer')), LIMIT_MS),
    ).rejects.toThrow('no answer');
    expect(timers()).toBeLessThanOrEqual(before);
  });
});
