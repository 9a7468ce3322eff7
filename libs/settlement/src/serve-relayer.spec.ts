import { Chain, createLaneId, Journal, type LaneId, RELAYER_FLEET } from '@tollgate/journal';

import { waitFor } from '../../../test/harness/retry.js';
import { startChain, type Devnet } from '../../../tools/devnet/chain/chain.js';
import { laneKey } from '../../journal/src/jobs/keys.js';
import { FAILURE, spoilJob, submitSample } from '../../journal/test/sample-jobs.js';
import { startJournal, type StartedJournal } from '../../journal/test/start-journal.js';
import { serveRelayer, type SettleServers } from './serve-relayer.js';
import type { Relayer } from './submit.js';

describe('a relayer', () => {
  let devnet: Devnet;
  let started: StartedJournal;
  let journal: Journal;
  let lane: LaneId;
  let token: number;

  beforeAll(async () => {
    [devnet, started] = await Promise.all([startChain(), startJournal({ fleet: RELAYER_FLEET })]);
    ({ journal } = started);
    lane = createLaneId(devnet.chainId, devnet.accounts[0]!.address);
    await journal.adopt(lane, { pendingNonce: 0 });
    token = (await journal.takeLease(lane, 'verifier', 600_000))!.token;
  });

  afterAll(() => Promise.all([devnet.stop(), started.stop()]));

  /** `count`: how often it began to take questions. */
  const serve = () => {
    let opened = 0;
    const troubles: unknown[] = [];
    const servers: SettleServers = {
      open: () => {
        opened++;
        return Promise.resolve({ close: () => Promise.resolve() });
      },
    };
    const relayer = { lane, onTrouble: (error: unknown) => troubles.push(error) } as unknown as Relayer;
    const chain = new Chain({ chainId: devnet.chainId, rpcUrls: [devnet.rpcUrl], timeoutMs: 30_000 });
    const leaving = new AbortController();
    const serving = serveRelayer({ journal, chain, servers, leaving: leaving.signal }, relayer, leaving.signal);
    const stop = async (): Promise<void> => {
      leaving.abort();
      await serving;
      await chain.close();
    };
    return { count: () => opened, troubles, stop };
  };

  it('settles at once after Redis may have lost writes', async () => {
    await started.redis.hset(laneKey(lane), 'frozen', 'lost');
    const { count, stop } = serve();
    try {
      await waitFor('it settles', () => count() === 1);
    } finally {
      await stop();
    }
  });

  it('settles, and offers its other parked jobs again, if one job cannot be read', async () => {
    const writes = [await submitSample(journal, lane, token), await submitSample(journal, lane, token)];
    for (const write of writes) await journal.needOperator({ ...write, failure: FAILURE });
    const [unreadable, parked] = writes as [(typeof writes)[number], (typeof writes)[number]];
    const mend = await spoilJob(started.redis, lane, unreadable.jobId);
    const { count, troubles, stop } = serve();
    try {
      const stateOf = async (jobId: string) => (await journal.readJob(jobId))?.state;
      await waitFor('it settles', () => count() === 1);
      await waitFor('the other is offered', async () => (await stateOf(parked.jobId)) === 'PLANNED');
      expect(troubles).toContainEqual(expect.objectContaining({ jobId: unreadable.jobId }));
      await mend();
      await waitFor('it is offered too', async () => (await stateOf(unreadable.jobId)) === 'PLANNED');
    } finally {
      await stop();
    }
  });
});
