import { waitFor } from '../../../../test/harness/retry.js';
import { useLanes, RECEIVER } from '../../test/lane-fixture.js';
import { markOf } from '../../test/transfer-planner.js';
import { jobKey } from '../jobs/keys.js';

describe('a lane', () => {
  const fixture = useLanes();

  it('takes a job of two steps from submission to its end', async () => {
    const jobId = await fixture.submit({ receivers: [RECEIVER, RECEIVER] });
    fixture.startRunner();
    const job = await fixture.waitForState(jobId, 'FINAL');

    const mined = await fixture.readMined();
    expect(mined.map(({ nonce, input }) => ({ nonce, input }))).toEqual([
      { nonce: 41, input: markOf(jobId, 0) },
      { nonce: 42, input: markOf(jobId, 1) },
    ]);
    expect(job.steps.map(({ nonce, mined: at }) => [nonce, at?.hash])).toEqual(
      mined.map(({ nonce, hash }) => [nonce, hash]),
    );
    expect((await fixture.readEvents()).map(({ type }) => type)).toEqual([
      'transactionSubmitted',
      'transactionConfirmed',
      'transactionSubmitted',
      'transactionConfirmed',
      'jobCompleted',
    ]);
    expect(fixture.troubles).toEqual([]);
  });

  it('confirms its other jobs when one cannot be read', async () => {
    await fixture.rpc('evm_setAutomine', [false]);
    const jobIds = [await fixture.submit(), await fixture.submit(), await fixture.submit()];
    fixture.startRunner();
    for (const jobId of jobIds) await fixture.waitForState(jobId, 'BROADCAST');
    const [first, unreadable, last] = jobIds as [string, string, string];
    await fixture.redis.hset(jobKey(fixture.lane, unreadable), 'step:0', '{}');
    await fixture.rpc('evm_setAutomine', [true]);
    await fixture.rpc('evm_mine');
    await fixture.waitForState(first, 'FINAL');
    await fixture.waitForState(last, 'FINAL');
    expect(fixture.troubles).toContainEqual(expect.objectContaining({ code: 'journal_unreadable' }));
  });

  it('resumes with refilled funds when one of its jobs cannot be read', async () => {
    await fixture.setBalance(0n);
    const unreadable = await fixture.submit();
    await fixture.redis.hset(jobKey(fixture.lane, unreadable), 'state', 'spoilt');
    const jobId = await fixture.submit();
    fixture.startRunner();
    const readPause = async () => (await fixture.journal.readLane(fixture.lane)).paused;
    await waitFor('the pause', async () => (await readPause())?.code === 'INSUFFICIENT_FUNDS');
    await fixture.setBalance(10n ** 20n);
    await fixture.waitForState(jobId, 'FINAL');
    await waitFor('the lane to go on', async () => (await readPause()) === null);
  });
});
