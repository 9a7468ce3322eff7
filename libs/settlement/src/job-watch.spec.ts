import type { Hex, SignedAuthorization } from '@tollgate/protocol';

import { waitFor } from '../../../test/harness/retry.js';
import {
  mineSample,
  planSample,
  sampleHash,
  sampleLane,
  spoilJob,
  submitSample,
} from '../../journal/test/sample-jobs.js';
import { openLane, useJournal } from '../../journal/test/start-journal.js';
import { SettlementRecords } from './batch.js';
import { JobWatch } from './confirm.js';
import { nameSettlement } from './methods/registry.js';
import { SettlementsUnderWay } from './under-way.js';

describe('a closed watch of jobs', () => {
  const { journal } = useJournal();
  let watch: JobWatch;
  const troubles: unknown[] = [];

  beforeEach(() => {
    watch = new JobWatch(journal, (error) => troubles.push(error));
  });

  it('resolves open waits as unwatched', async () => {
    const waiting = [watch.untilMined('a'), watch.untilEnded('a'), watch.untilEnded('b')];
    watch.close();
    expect(await Promise.all(waiting)).toEqual(Array(3).fill({ outcome: 'unwatched' }));
  });

  // Regression: it began to read the journal again over a closed connection, and did so for ever.
  it('resolves later waits as unwatched, and reads nothing', async () => {
    watch.close();
    const late = [watch.untilMined('a'), watch.untilEnded('b')];
    expect(watch.size).toBe(0);
    expect(await Promise.all(late)).toEqual(Array(2).fill({ outcome: 'unwatched' }));
    expect(troubles).toEqual([]);
  });
});

describe('a watch of jobs of which one cannot be read', () => {
  const { journal, redis } = useJournal();

  afterEach(() => jest.restoreAllMocks());

  it('learns of the ends of the others, and waits for that one until it can be read', async () => {
    const { lane, token } = await openLane(journal);
    const troubles: unknown[] = [];
    const watch = new JobWatch(journal, (error) => troubles.push(error));
    const unreadable = await submitSample(journal, lane, token);
    const other = await submitSample(journal, lane, token);
    const mend = await spoilJob(redis, lane, unreadable.jobId);
    let isOver = false;
    const waiting = watch.untilEnded(unreadable.jobId).finally(() => (isOver = true));
    const ended = watch.untilEnded(other.jobId);
    await journal.cancel(other.jobId);
    expect(await ended).toEqual({ outcome: 'over', txHash: null, calldata: null, isReverted: false });
    // Longer than a job that was never submitted is waited for.
    const now = performance.now.bind(performance);
    jest.spyOn(performance, 'now').mockImplementation(() => now() + 60_000);
    const before = troubles.length;
    await waitFor('two more looks', () => Promise.resolve(troubles.length >= before + 2));
    expect(troubles).toContainEqual(expect.objectContaining({ code: 'journal_unreadable', jobId: unreadable.jobId }));
    expect([isOver, watch.size]).toEqual([false, 1]);
    await mend();
    await journal.cancel(unreadable.jobId);
    expect(await waiting).toMatchObject({ outcome: 'over' });
    watch.close();
  });
});

const createAddress = (): Hex => sampleLane().address;

describe('a job that was given up after it had its nonce', () => {
  const { journal, redis } = useJournal();

  // Prevents: the transaction that uses up the nonce counts as a failed settlement against each payer.
  it('has sent no settlement', async () => {
    const { lane, token } = await openLane(journal);
    const write = await submitSample(journal, lane, token);
    const { jobId } = write;
    await planSample(journal, write);
    await journal.reserve({ ...write, maxInFlight: 9 });
    await journal.cancel(jobId);
    await journal.finishStep({ ...write, blockHash: await mineSample(journal, write, 'cancel') });
    const watch = new JobWatch(journal, () => undefined);
    expect(await watch.untilEnded(jobId)).toEqual({ outcome: 'over', txHash: null, calldata: null, isReverted: false });
    watch.close();
    const [payer, payTo, asset] = [createAddress(), createAddress(), createAddress()];
    const validity = { validAfter: '0', validBefore: '9999999999' };
    const payment: SignedAuthorization = {
      kind: 'authorization',
      authorization: { from: payer, to: payTo, value: '1000', nonce: sampleHash(), ...validity },
      signature: '0x12',
    };
    const terms = { chainId: 1328, asset, assetName: 'USDC', assetVersion: '2', payTo, priceBaseUnits: '1000' };
    const records = new SettlementRecords(redis);
    const name = nameSettlement(terms, payment, '1000');
    await records.claim([{ name, questionId: 'one', keptMs: 600_000 }], jobId);
    const underWay = new SettlementsUnderWay({ journal, records });
    expect(await underWay.findTransactions(terms, payment)).toEqual({ txHashes: [], job: 'over' });
  });
});
