import type { Hex } from '@tollgate/protocol';

import { waitFor } from '../../../../test/harness/retry.js';
import { useLanes } from '../../test/lane-fixture.js';
import { FAILURE, sampleSignature } from '../../test/sample-jobs.js';
import { transferPlanner } from '../../test/transfer-planner.js';
import type { JobPlanner, SignatureVerdict } from '../jobs/ports.js';

describe('a step that is a signed payment', () => {
  const fixture = useLanes();
  let verdict: SignatureVerdict | Error;
  /** The bytes that were presented, each once, and the state of the job in the journal at that time. */
  let presented: Map<Hex, string>;
  let asked = 0;

  beforeEach(async () => {
    presented = new Map();
    verdict = { outcome: 'done' };
  });

  const planner: JobPlanner = {
    plan: async (job, context) => {
      if (job.operation !== 'payment') return transferPlanner.plan(job, context);
      const steps = [sampleSignature(fixture.lane.address)];
      return { steps, preview: null, floorsHash: 'floors', needsApproval: false };
    },
    judgeSignature: async (job, { signature: { bytes } }) => {
      asked += 1;
      const stored = await fixture.readJob(job.id);
      if (stored.steps[0]!.signature!.bytes !== bytes) throw new Error('presented before it was stored');
      presented.set(bytes, stored.state);
      if (verdict instanceof Error) throw verdict;
      return verdict;
    },
  };
  const start = () => fixture.startRunner({}, { planner });
  const submitPayment = async () => {
    const submitted = await fixture.journal.submit({ ...fixture.request(), operation: 'payment' });
    return 'jobId' in submitted ? submitted.jobId : '';
  };

  it('is presented once it is stored, and ends the job without a transaction', async () => {
    const jobId = await submitPayment();
    start();
    const { steps } = await fixture.waitForState(jobId, 'FINAL');
    expect(steps).toMatchObject([{ nonce: null, attempts: [], signature: { number: 1, bytes: null } }]);
    expect([...presented.values()]).toEqual(['SIGNED']);
    expect(await fixture.readMined()).toEqual([]);
    expect(fixture.troubles).toEqual([]);
  });

  it('does not keep later jobs of the wallet waiting for its answer', async () => {
    verdict = { outcome: 'later' };
    const jobId = await submitPayment();
    start();
    await waitFor('the signature', () => presented.size === 1);
    await fixture.waitForState(await fixture.submit(), 'FINAL');
    expect((await fixture.readJob(jobId)).state).toBe('SIGNED');
    verdict = { outcome: 'done' };
    await fixture.waitForState(jobId, 'FINAL');
    expect(presented.size).toBe(1);
  });

  it('says that it waits for the answer, and no longer once there is one', async () => {
    verdict = { outcome: 'later' };
    const jobId = await submitPayment();
    fixture.startRunner({ waitingAfterMs: 30 }, { planner });
    await waitFor('the reason', async () => (await fixture.readJob(jobId)).waiting?.code === 'answer');
    verdict = { outcome: 'done' };
    expect((await fixture.waitForState(jobId, 'FINAL')).waiting).toBeNull();
  });

  it('leaves turns to other jobs, however many wait for their answers', async () => {
    verdict = { outcome: 'later' };
    const ids = await Promise.all(Array.from({ length: 30 }, submitPayment));
    const runner = fixture.startRunner({ jobsAtOnce: 1, reconcileMs: 60_000 }, { planner });
    await waitFor('all signatures', () => presented.size === ids.length);
    asked = 0;
    const transferId = await fixture.submit();
    runner.wake(transferId);
    await fixture.waitForState(transferId, 'FINAL');
    expect(asked).toBeLessThan(ids.length);
    verdict = { outcome: 'done' };
    await Promise.all(ids.map((jobId) => fixture.waitForState(jobId, 'FINAL')));
  });

  it('is signed again only when it is void', async () => {
    verdict = { outcome: 'needs_operator', failure: FAILURE };
    const jobId = await submitPayment();
    start();
    expect((await fixture.waitForState(jobId, 'NEEDS_OPERATOR')).failure).toEqual(FAILURE);
    await fixture.journal.resumeJob(jobId);
    await fixture.waitForState(jobId, 'NEEDS_OPERATOR');
    expect(presented.size).toBe(1);
    verdict = { outcome: 'void' };
    await fixture.journal.resumeJob(jobId);
    await waitFor('a second signature', () => presented.size >= 2);
    verdict = { outcome: 'done' };
    const { steps } = await fixture.waitForState(jobId, 'FINAL');
    expect(steps[0]!.signature!.number).toBeGreaterThan(1);
  });

  it('is presented again, and not signed again, while the judge fails', async () => {
    verdict = new Error('the chain does not answer');
    const jobId = await submitPayment();
    start();
    await waitFor('two tries', () => fixture.troubles.length >= 2);
    expect((await fixture.readJob(jobId)).state).toBe('SIGNED');
    verdict = { outcome: 'done' };
    await fixture.waitForState(jobId, 'FINAL');
    expect(presented.size).toBe(1);
  });

  it('is left to the next worker, which presents the same bytes', async () => {
    verdict = { outcome: 'later' };
    const jobId = await submitPayment();
    start();
    await waitFor('the signature', () => presented.size === 1);
    await fixture.endWorkers();
    verdict = { outcome: 'done' };
    start();
    await fixture.waitForState(jobId, 'FINAL');
    expect(presented.size).toBe(1);
  });
});
