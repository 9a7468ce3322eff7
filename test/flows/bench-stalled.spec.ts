import { setTimeout as sleep } from 'node:timers/promises';

import { failWhenStalled, noteProgress } from '../../bench/fail-when-stalled.js';

const LIMIT_MS = 200;

// Prevents: a lane whose chain stopped mining hangs until somebody looks.
describe('failWhenStalled', () => {
  it('ends work that makes no progress with a sentence that names it', async () => {
    const work = () => new Promise<void>(() => undefined);
    await expect(failWhenStalled('tollgate (automine)', work, LIMIT_MS)).rejects.toThrow(
      'tollgate (automine) made no progress for 0.2 s: nothing was answered, mined or ended.',
    );
  });

  it('counts from the last progress, so slow work goes on', async () => {
    const limitMs = 1000;
    const startedMs = performance.now();
    const work = async () => {
      for (let step = 0; step < 6; step++) {
        await sleep(limitMs / 5);
        noteProgress();
      }
      await new Promise<void>(() => undefined);
    };
    await expect(failWhenStalled('slow work', work, limitMs)).rejects.toThrow('slow work made no progress');
    expect(performance.now() - startedMs).toBeGreaterThan((6 * limitMs) / 5 + limitMs - 50);
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
