import { randomBytes } from 'node:crypto';

import type { Hex } from '@tollgate/protocol';

import { waitFor } from '../../../../test/harness/retry.js';
import { startChain, type Devnet } from '../../../../tools/devnet/chain/chain.js';
import { callRpc } from '../../../../tools/devnet/processes/json-rpc.js';
import { startRedisShards, type RedisShards } from '../../../../tools/devnet/processes/redis-shards.js';
import { RECEIVER, QUICK } from '../../test/lane-fixture.js';
import { sampleRequest } from '../../test/sample-jobs.js';
import { transferPlanner } from '../../test/transfer-planner.js';
import { Chain } from '../chain/chain.js';
import { laneKey } from '../jobs/keys.js';
import { createKeySigner } from '../signer/create-key-signer.js';
import { acceptJob } from '../store/accept-job.js';
import { Journal } from '../store/journal.js';
import { LaneShare } from './lane-lease.js';
import { LaneRunner } from './lane-runner.js';

const WALLETS = 6;
const JOBS = 5;

describe('lanes on a Redis cluster', () => {
  let started: RedisShards;
  let devnet: Devnet;
  let chain: Chain;
  const runners: LaneRunner[] = [];

  beforeAll(async () => {
    [started, devnet] = await Promise.all([startRedisShards(), startChain()]);
    chain = new Chain({ chainId: devnet.chainId, rpcUrls: [devnet.rpcUrl] });
  });

  afterAll(async () => {
    await Promise.all(runners.map((runner) => runner.stop()));
    await chain.close();
    await Promise.all([started.stop(), devnet.stop()]);
  });

  it('complete jobs of several steps for wallets on all servers, each step once', async () => {
    const journal = new Journal({ redis: started.cluster, timeoutMs: 20_000 });
    await journal.open();
    const [share, troubles] = [new LaneShare(), [] as unknown[]];
    for (let index = 0; index < WALLETS; index++) {
      const signer = createKeySigner(`0x${randomBytes(32).toString('hex')}`);
      await callRpc(devnet.rpcUrl, 'anvil_setBalance', [signer.address, `0x${(10n ** 20n).toString(16)}`]);
      const runner = new LaneRunner({
        journal,
        chain,
        signer,
        planner: transferPlanner,
        judgeStep: () => Promise.resolve({ outcome: 'done' }),
        owner: 'worker',
        share,
        settings: QUICK,
        onTrouble: (error) => troubles.push(error),
      });
      await journal.adopt(runner.lane, { pendingNonce: 0 });
      runner.start();
      runners.push(runner);
    }
    const lanes = runners.map(({ lane }) => lane);
    const receivers: Hex[] = [RECEIVER, RECEIVER];
    for (const [index, runner] of runners.entries()) {
      const requests = Array.from({ length: JOBS }, () => sampleRequest(lanes[index]!, { input: { receivers } }));
      await Promise.all(requests.map((request) => acceptJob({ journal, queue: runner }, request)));
    }
    for (const lane of lanes) await waitFor('an empty lane', async () => (await journal.readLane(lane)).openJobs === 0);

    const { jobs } = await journal.listJobs({ lanes, limit: 200 });
    expect(jobs.map(({ state }) => state)).toEqual(Array(WALLETS * JOBS).fill('FINAL'));
    for (const { address } of lanes) {
      expect(Number(await callRpc(devnet.rpcUrl, 'eth_getTransactionCount', [address, 'latest']))).toBe(2 * JOBS);
      const nonces = jobs.filter(({ lane }) => lane.address === address).flatMap(({ steps }) => steps);
      expect(nonces.map(({ nonce }) => nonce).sort((a, b) => a! - b!)).toEqual(
        Array.from({ length: 10 }, (_, at) => at),
      );
    }
    expect(troubles).toEqual([]);
    const stored = await Promise.all(
      started.cluster.nodes('master').map(async (node) => (await node.keys('tollgate:{1328:*:lane')).length),
    );
    expect(stored.reduce((sum, count) => sum + count)).toBe(WALLETS);
    expect(await started.cluster.exists(laneKey(lanes[0]!))).toBe(1);
  });
});
