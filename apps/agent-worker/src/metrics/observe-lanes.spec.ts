import { WalletDirectory } from '@tollgate/agent-jobs';
import { laneBookKey } from '@tollgate/book-events';
import { nameLane } from '@tollgate/journal';
import { Registry } from 'prom-client';

import { sampleLane, sampleStep, spoilJob, submitSample } from '../../../../libs/journal/test/sample-jobs.js';
import { startJournal, type StartedJournal } from '../../../../libs/journal/test/start-journal.js';
import type { WorkerWallet } from '../wallets/worker-wallet.js';
import { observeLanes } from './observe-lanes.js';

const NO_OTHERS = { list: () => Promise.resolve([]) };
const AGE = 'tollgate_agent_oldest_open_job_seconds';

describe('observeLanes', () => {
  let started: StartedJournal;
  const troubles: unknown[] = [];
  const onTrouble = (_: string, error: unknown) => troubles.push(error);

  beforeAll(async () => {
    started = await startJournal();
  });

  afterAll(() => started.stop());

  it('report the adopted wallets of other workers too, which may all be gone', async () => {
    const { journal, redis } = started;
    const [own, refunds, unused] = ['own', 'refunds', 'unused'].map((name) => ({ name, lane: sampleLane() }));
    const directory = new WalletDirectory(redis);
    for (const wallet of [own!, refunds!, unused!]) await directory.publish(wallet);
    await journal.adopt(refunds!.lane, { pendingNonce: 0 });
    const registry = new Registry();
    observeLanes(registry, {
      journal,
      directory,
      wallets: [own!],
      isHolding: (name) => name === 'own',
      bookLimit: null,
      onTrouble,
    });
    const { values = [] } = (await registry.getSingleMetric('tollgate_agent_lane_held')?.get()) ?? {};
    expect(values.map(({ labels, value }) => [labels['wallet'], value])).toEqual([
      ['own', 1],
      ['refunds', 0],
    ]);
  });

  it('report how full the outbox of the book is, while one is kept', async () => {
    const { journal, redis } = started;
    const lanes = [sampleLane(), sampleLane()];
    for (let event = 0; event < 3; event++) await redis.xadd(laneBookKey(nameLane(lanes[1]!)), '*', 'v', '1');
    const wallets = lanes.map((lane, index) => ({ name: `wallet-${index}`, lane }) as WorkerWallet);
    const read = async (bookLimit: number | null): Promise<(number | undefined)[]> => {
      const registry = new Registry();
      observeLanes(registry, { journal, directory: NO_OTHERS, wallets, isHolding: () => true, bookLimit, onTrouble });
      const names = ['tollgate_book_outbox_events', 'tollgate_book_outbox_limit_events'];
      return Promise.all(names.map(async (name) => (await registry.getSingleMetric(name)?.get())?.values[0]?.value));
    };
    expect(await read(2_000)).toEqual([3, 2_000]);
    expect(await read(null)).toEqual([undefined, undefined]);
  });

  it('report the age of the oldest open job, however long an older one waits for an approval', async () => {
    const { journal } = started;
    const lane = sampleLane();
    await journal.adopt(lane, { pendingNonce: 0 });
    const token = (await journal.takeLease(lane, 'worker', 600_000))!.token;
    const waiting = await submitSample(journal, lane, token);
    const plan = { steps: [sampleStep()], plan: 'p', floorsHash: 'floors', needsApproval: true };
    await journal.putPlan({ ...waiting, ...plan });
    // A new registry each time, so that no earlier read is reported again.
    const readAge = async (): Promise<number | undefined> => {
      const registry = new Registry();
      const wallet = { name: 'main', lane } as WorkerWallet;
      observeLanes(registry, {
        journal,
        directory: NO_OTHERS,
        wallets: [wallet],
        isHolding: () => true,
        bookLimit: null,
        onTrouble,
      });
      const { values = [] } = (await registry.getSingleMetric(AGE)?.get()) ?? {};
      return values[0]?.value;
    };
    expect(await readAge()).toBe(0);
    const { jobId } = await submitSample(journal, lane, token);
    const [first, second] = await journal.readJobs([waiting.jobId, jobId]);
    // Redis counts in milliseconds; alerts are about differences of a day.
    const nowMs = jest.spyOn(Date, 'now').mockReturnValue(second!.submittedAtMs + 86_400_000);
    try {
      expect(first!.state).toBe('AWAITING_APPROVAL');
      expect(await readAge()).toBe(86_400);
    } finally {
      nowMs.mockRestore();
    }
  });

  it('count a job that cannot be read as such, and the others as they are', async () => {
    const { journal, redis } = started;
    const lane = sampleLane();
    await journal.adopt(lane, { pendingNonce: 0 });
    const token = (await journal.takeLease(lane, 'worker', 600_000))!.token;
    const unreadable = await submitSample(journal, lane, token);
    const stuck = await submitSample(journal, lane, token);
    const why = { code: 'nonce_gap', message: 'Nothing has nonce 7.', suggestion: 'Send it.' } as const;
    await journal.noteWaiting({ ...stuck, why, forMs: 0 });
    await spoilJob(redis, lane, unreadable.jobId);
    const registry = new Registry();
    const wallets = [{ name: 'main', lane } as WorkerWallet];
    observeLanes(registry, {
      journal,
      directory: NO_OTHERS,
      wallets,
      isHolding: () => true,
      bookLimit: null,
      onTrouble,
    });
    const read = async (name: string) => (await registry.getSingleMetric(name)!.get()).values;
    const counts = await read('tollgate_agent_open_jobs');
    // Jobs of one millisecond have no order.
    expect(counts).toHaveLength(2);
    expect(counts).toEqual(
      expect.arrayContaining([
        { labels: { wallet: 'main', state: 'unreadable', operation: '' }, value: 1 },
        { labels: { wallet: 'main', state: 'PLANNED', operation: 'swap' }, value: 1 },
      ]),
    );
    const waiting = await read('tollgate_agent_open_jobs_waiting');
    expect(waiting.filter(({ value }) => value > 0)).toEqual([
      { labels: { wallet: 'main', code: 'nonce_gap' }, value: 1 },
    ]);
    expect(await read(AGE)).toHaveLength(1);
    expect(troubles).toEqual([expect.objectContaining({ jobId: unreadable.jobId })]);
  });
});
