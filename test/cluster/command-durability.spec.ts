import { WalletDirectory } from '@tollgate/agent-jobs';
import { createRedis, type RedisClient } from '@tollgate/redis';

import { Journal, type LaneId } from '../../libs/journal/src/index.js';
import { sampleLane, submitSample } from '../../libs/journal/test/sample-jobs.js';
import { NOT_DONE, tollgate } from '../../tools/cli/test/run-tollgate.js';
import { startRedis, type RedisServer } from '../../tools/devnet/processes/redis.js';
import { waitFor } from '../harness/retry.js';
import { startCluster, type StartedCluster } from './start-cluster.js';

const REPLICA = { LEDGER_DURABILITY: 'replica', LEDGER_REPLICA_TIMEOUT_MS: '500' };
/** The longest time that may be set, for replicas that acknowledge. */
const PATIENT = { ...REPLICA, LEDGER_REPLICA_TIMEOUT_MS: '2500' };

async function createJobs(redis: RedisClient): Promise<{ lane: LaneId; jobIds: [string, string] }> {
  const journal = new Journal({ redis, timeoutMs: 30_000 });
  await journal.open();
  const lane = sampleLane();
  await journal.adopt(lane, { pendingNonce: 0 });
  await new WalletDirectory(redis).publish({ name: 'main', lane });
  const { token } = (await journal.takeLease(lane, 'worker', 600_000))!;
  const [one, other] = [await submitSample(journal, lane, token), await submitSample(journal, lane, token)];
  return { lane, jobIds: [one.jobId, other.jobId] };
}

describe('decisions of the command line where a replica must acknowledge', () => {
  let primary: RedisServer;
  let redis: RedisClient;

  beforeAll(async () => {
    primary = await startRedis({ plain: true });
    redis = createRedis(primary.url, {});
  });

  afterAll(async () => {
    redis.disconnect();
    await primary.stop();
  });

  const run = (argv: string[], env: Record<string, string> = REPLICA): Promise<string> =>
    tollgate([...argv, '--redis', primary.url], env);
  const refused = (stderr: string) => ({ ...NOT_DONE, stderr: expect.stringContaining(stderr) });

  it('are not reported as made before, and are made once', async () => {
    const { jobIds } = await createJobs(redis);
    const missing = refused('0 of 1 replicas have written it to disk within 500 ms (');
    await expect(run(['jobs', 'cancel', jobIds[0]])).rejects.toMatchObject(missing);
    await expect(run(['wallets', 'pause', 'main'])).rejects.toMatchObject(missing);
    expect(await run(['jobs', 'list'])).toContain(jobIds[0]);
    expect(await run(['jobs', 'show', jobIds[0]])).toContain(jobIds[0]);
    expect(await run(['wallets', 'list'])).toContain('main');

    const args = ['--replicaof', '127.0.0.1', String(primary.port), '--repl-diskless-sync-delay', '0'];
    const replica = await startRedis({ args });
    try {
      const cancel = () => run(['jobs', 'cancel', jobIds[0]], PATIENT);
      await waitFor('the replica', () => cancel().then(Boolean, () => false));
      expect(await cancel()).toContain(`${jobIds[0]} is CANCELLED already.`);
      expect(await run(['wallets', 'pause', 'main'], PATIENT)).toContain('main was already paused');
    } finally {
      await replica.stop();
    }
  });

  it('are refused with a setting that the services refuse', async () => {
    for (const [wrong, reason] of [
      [{ LEDGER_DURABILITY: 'replicas' }, 'LEDGER_DURABILITY must be local or replica.'],
      [{ ...REPLICA, LEDGER_REPLICAS: '0' }, 'LEDGER_REPLICAS must be a whole number from 1 to 16.'],
      [{ ...REPLICA, LEDGER_REPLICA_TIMEOUT_MS: '1s' }, 'LEDGER_REPLICA_TIMEOUT_MS must be a whole number'],
    ] as const) {
      await expect(run(['wallets', 'resume', 'main'], wrong)).rejects.toMatchObject(refused(reason));
    }
  });
});

describe('decisions of the command line on a cluster whose replicas must acknowledge', () => {
  let cluster: StartedCluster;
  let redis: RedisClient;

  beforeAll(async () => {
    cluster = await startCluster();
    redis = createRedis(cluster.url, {});
  });

  afterAll(async () => {
    redis.disconnect();
    await cluster.stop();
  });

  it('are made', async () => {
    const { jobIds } = await createJobs(redis);
    const cancel = (jobId: string) => tollgate(['jobs', 'cancel', jobId, '--redis', cluster.url], PATIENT);
    await waitFor('the replicas', () => cancel(jobIds[0]).then(Boolean, () => false));
    expect(await cancel(jobIds[1])).toBe(`${jobIds[1]} is CANCELLED.`);
  });
});
