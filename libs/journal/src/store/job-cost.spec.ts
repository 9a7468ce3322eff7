import type { Redis } from 'ioredis';

import { sampleAttempt, sampleHash, sampleStep, submitSample } from '../../test/sample-jobs.js';
import { openLane, useJournal } from '../../test/start-journal.js';

describe('what the journal asks of Redis for a job of one transaction', () => {
  const { journal, redis } = useJournal();

  it('is at most 55 commands, those in scripts included, and 4.45 kB of its log', async () => {
    const { lane, token } = await openLane(journal);
    const before = await readCounters(redis);

    const write = await submitSample(journal, lane, token);
    const plan = { steps: [sampleStep()], plan: { text: 'Swap' }, floorsHash: 'none', needsApproval: false };
    const { reserved } = await journal.beginStep({ ...write, ...plan, maxInFlight: 1 });
    expect(reserved).toEqual({ outcome: 'done', state: 'RESERVED', nonce: 0 });
    const [attempt, blockHash] = [sampleAttempt(), sampleHash()];
    await journal.putAttempt({ ...write, expectedAttempts: 0, nonce: 0, attempt });
    await journal.markBroadcast({ ...write, hash: attempt.hash });
    const ended = await journal.finishMined({ ...write, mined: { hash: attempt.hash, blockNumber: 1, blockHash } });
    expect(ended).toEqual({ outcome: 'done', state: 'FINAL' });

    const after = await readCounters(redis);
    // INFO itself is one.
    expect(after.commands - before.commands - 1).toBeLessThanOrEqual(55);
    expect(after.logBytes - before.logBytes).toBeLessThanOrEqual(4_450);
  });
});

async function readCounters(redis: Redis): Promise<{ commands: number; logBytes: number }> {
  const info = await redis.info('everything');
  const read = (name: string): number => Number(new RegExp(`^${name}:(\\d+)`, 'm').exec(info)?.[1]);
  return { commands: read('total_commands_processed'), logBytes: read('aof_current_size') };
}
