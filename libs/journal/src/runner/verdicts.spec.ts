import { once } from 'node:events';

import type { Hex } from '@tollgate/protocol';

import { waitFor } from '../../../../test/harness/retry.js';
import { useLanes } from '../../test/lane-fixture.js';
import type { JudgeStep, StepVerdict } from '../jobs/ports.js';
import { LaneShare } from './lane-lease.js';

const FAILURE = { code: 'NOT_REDEEMED', message: 'Paid, and nothing came back.', suggestion: 'Ask the seller.' };

describe('a lane', () => {
  const fixture = useLanes();

  const judgeBy = (verdicts: (asked: number) => StepVerdict): { judgeStep: JudgeStep; count: () => number } => {
    let asked = 0;
    return { judgeStep: () => Promise.resolve(verdicts(++asked)), count: () => asked };
  };

  const typesOf = async (jobId: string) =>
    (await fixture.readEvents()).filter((event) => event.jobId === jobId).map(({ type }) => type);

  describe('that judges a mined step', () => {
    // No block follows the transaction's own, so the judge is not asked because of a new head.
    it('asks again until there is a verdict, even if the chain stands still', async () => {
      const { judgeStep, count } = judgeBy((asked) => ({ outcome: asked < 4 ? 'later' : 'done' }));
      const jobId = await fixture.submit();
      fixture.startRunner({}, { judgeStep });
      expect(await fixture.waitForState(jobId, 'FINAL')).toMatchObject({ failure: null });
      expect(count()).toBe(4);
    });

    it('shows it as mined while there is no verdict', async () => {
      const jobId = await fixture.submit();
      fixture.startRunner({}, { judgeStep: () => Promise.resolve({ outcome: 'later' }) });
      expect((await fixture.waitForState(jobId, 'MINED')).steps[0]!.mined).not.toBeNull();
      expect((await fixture.journal.readLane(fixture.lane)).unminedSteps).toBe(0);
    });

    it('treats an error as no verdict, reports it and asks again', async () => {
      const { judgeStep } = judgeBy((asked) => {
        if (asked < 3) throw new Error(`trouble ${asked}`);
        return { outcome: 'done' };
      });
      const jobId = await fixture.submit();
      fixture.startRunner({}, { judgeStep: async (...args) => judgeStep(...args) });
      await fixture.waitForState(jobId, 'FINAL');
      expect(fixture.troubles.map(String)).toEqual(['Error: trouble 1', 'Error: trouble 2']);
    });

    it('parks a step that needs an operator, judges it again when it is resumed, and continues with the rest', async () => {
      const judged: string[] = [];
      let isMended = false;
      const judgeStep: JudgeStep = (job, step) => {
        judged.push(`${job.id} ${job.state} ${step.mined !== null}`);
        return Promise.resolve(isMended ? { outcome: 'done' } : { outcome: 'needs_operator', failure: FAILURE });
      };
      const jobId = await fixture.submit();
      const runner = fixture.startRunner({ reconcileMs: 60_000 }, { judgeStep });
      expect(await fixture.waitForState(jobId, 'NEEDS_OPERATOR')).toMatchObject({ failure: FAILURE });
      isMended = true;
      const other = await fixture.submit();
      runner.wake(other);
      await fixture.waitForState(other, 'FINAL');
      expect((await fixture.readJob(jobId)).state).toBe('NEEDS_OPERATOR');

      await fixture.journal.resumeJob(jobId);
      expect(await fixture.waitForState(jobId, 'FINAL')).toMatchObject({ failure: null });
      expect(judged.filter((entry) => entry.startsWith(jobId))).toEqual(Array(2).fill(`${jobId} MINED true`));
      expect(await typesOf(jobId)).toEqual([
        'transactionSubmitted',
        'jobNeedsOperator',
        'transactionConfirmed',
        'jobCompleted',
      ]);
    });

    it('ends a parked job when it is abandoned', async () => {
      const { judgeStep, count } = judgeBy(() => ({ outcome: 'needs_operator', failure: FAILURE }));
      const jobId = await fixture.submit();
      fixture.startRunner({}, { judgeStep });
      await fixture.waitForState(jobId, 'NEEDS_OPERATOR');
      const given = { code: 'ABANDONED', message: 'Given up.', suggestion: 'None.' };
      const minedNonce = Number(await fixture.rpc('eth_getTransactionCount', [fixture.lane.address, 'latest']));
      await fixture.journal.abandonJob({ jobId, minedNonce, failure: given });
      expect(await fixture.readJob(jobId)).toMatchObject({ state: 'CANCELLED', failure: given });
      expect(await fixture.journal.resumeJob(jobId)).toMatchObject({ reason: 'wrong_state' });
      expect(count()).toBe(1);
      expect(await typesOf(jobId)).toEqual(['transactionSubmitted', 'jobNeedsOperator', 'transactionFailed']);
    });
  });

  describe('with work beside it', () => {
    it('receives the wake-ups of that work from the first moment on', async () => {
      const jobId = await fixture.submit();
      const other = await fixture.submit();
      const runner = fixture.startRunner(
        { reconcileMs: 60_000 },
        {
          whileHeld: async ({ lane, signal }) => {
            expect(lane).toEqual(fixture.lane);
            runner.wake(jobId);
            runner.wake(other);
            await once(signal, 'abort');
          },
        },
      );
      await fixture.waitForEnds([jobId, other]);
      expect(fixture.troubles).toEqual([]);
    });

    it('starts that work again when it fails, and is released when it is done', async () => {
      let begun = 0;
      let isDone = false;
      const runner = fixture.startRunner(
        // It starts again after a quarter of the lease.
        { leaseMs: 16_000 },
        {
          whileHeld: ({ signal }) => {
            if (++begun < 3) throw new Error(`no queue ${begun}`);
            return once(signal, 'abort').then(async () => {
              expect((await fixture.journal.readLane(fixture.lane)).lease).not.toBeNull();
              isDone = true;
            });
          },
        },
      );
      await waitFor('the third start', () => begun === 3);
      expect(runner.isHolding).toBe(true);
      await runner.stop();
      expect(isDone).toBe(true);
      expect((await fixture.journal.readLane(fixture.lane)).lease).toBeNull();
      expect(fixture.troubles.map(String)).toEqual(['Error: no queue 1', 'Error: no queue 2']);
    });

    it('is released even if that work does not end', async () => {
      const runner = fixture.startRunner({ stopWithinMs: 50 }, { whileHeld: () => new Promise(() => undefined) });
      await fixture.waitForState(await fixture.submit(), 'FINAL');
      await runner.stop();
      expect((await fixture.journal.readLane(fixture.lane)).lease).toBeNull();
    });
  });

  it('is left to the process that has fewer lanes', async () => {
    const shares = [new LaneShare(), new LaneShare()];
    const wallets: Hex[] = [];
    for (let index = 0; index < 6; index++) {
      await fixture.useNewWallet();
      wallets.push(fixture.privateKey);
    }
    // All of the first process ask before any of the second: without sharing, the first would get them all.
    const processes = shares.map((share) =>
      wallets.map((privateKey) => {
        fixture.privateKey = privateKey;
        return fixture.startRunner({ leaseMs: 4000 }, { share });
      }),
    );
    const held = () => processes.map((runners) => runners.filter(({ isHolding }) => isHolding).length);
    await waitFor('a holder of each', () => held().reduce((sum, count) => sum + count) === 6);
    expect(Math.min(...held())).toBeGreaterThanOrEqual(2);
  });
});
