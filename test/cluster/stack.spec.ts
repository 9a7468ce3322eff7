import { randomUUID } from 'node:crypto';

import { connectRedis } from '@tollgate/redis';
import { Redis } from 'ioredis';

import { presentV2, readChallenge } from '../../apps/gateway/test/present-payments.js';
import { Ledger } from '../../libs/ledger/src/index.js';
import { signAuthorization } from '../../tools/devnet/chain/sign-authorization.js';
import { callRpc } from '../../tools/devnet/processes/json-rpc.js';
import { startRedis, type RedisServer } from '../../tools/devnet/processes/redis.js';
import { startStack, type Stack } from '../../tools/devnet/stack/stack.js';
import { createAgentClient, type AgentClient } from '../harness/agents/agent-client.js';
import { payLocked } from '../harness/payments/pay.js';
import { retryUntilPaid, waitFor } from '../harness/retry.js';
import { createRedisUsers, readAclRefusals } from '../harness/stack/guarded-redis.js';
import { CLUSTER_PASSWORD, startCluster, type StartedCluster } from './start-cluster.js';

/** Sells for a hash and for a signature, and does a job. */
async function sellToAll(stack: Stack, client: AgentClient): Promise<void> {
  const resource = `${stack.baseUrl}/api/weather`;
  const { proof } = await payLocked(stack.chain, resource);
  const ask = () => fetch(resource, { headers: { 'X-PAYMENT': proof } });
  const { body } = await retryUntilPaid(ask);
  expect(await retryUntilPaid(ask)).toMatchObject({ body, isReplay: true });

  const signed = await signAuthorization(stack.chain, stack.chain.accounts[0]!, { value: '1000' });
  const headers = presentV2(await readChallenge(resource), signed);
  await retryUntilPaid(() => fetch(resource, { headers }));

  const [wallet] = stack.agents!.wallets;
  const input = { amount: '0.001', to: stack.chain.payTo };
  const [request, key] = [{ operation: 'transfer', wallet: wallet!.name, input } as const, randomUUID()];
  let jobId = '';
  // 503 while the replica of its shard, which has just come back, does not acknowledge yet.
  await waitFor('the job is accepted', async () => {
    jobId = await client.submit(request, key).catch(() => '');
    return jobId !== '';
  });
  await client.waitFor(jobId, 'FINAL');
}

/**
 * Opens the ledger on the next primary, as the first claim there would: payments from before are refused where a replica
 * need not acknowledge, and those that follow must not be.
 */
async function noticeFailover(cluster: StartedCluster, { chain }: Stack): Promise<void> {
  const redis = connectRedis({ url: cluster.url, role: 'test', logger: { log() {}, warn() {}, error() {} } });
  await waitFor('the ledger is open on the next primary', async () => {
    const headBlockNumber = Number(await callRpc(chain.rpcUrl, 'eth_blockNumber'));
    return new Ledger({ redis, chainIds: [1328] }).open({ chainId: 1328, blockNumber: headBlockNumber }).then(
      () => true,
      () => false,
    );
  });
  redis.disconnect();
}

describe.each([
  { name: 'gateway, verifier and agent worker on a cluster', durability: 'local' },
  { name: 'the same when replicas must acknowledge, each process as a user of Redis', durability: 'replica' },
])('$name', ({ durability }) => {
  const users = durability === 'replica' ? createRedisUsers('redis+cluster://127.0.0.1') : null;
  let cluster: StartedCluster;
  let stack: Stack;
  let client: AgentClient;

  beforeAll(async () => {
    cluster = await startCluster({ users });
    const url = users === null ? cluster.url : cluster.urlOf('operator');
    const redis = { ...cluster.primaries[0]!, url, exited: () => new Promise<never>(() => undefined) };
    const env = { SIGNED_PAYMENTS: 'true', RELAYER_POLL_MS: '20', LEDGER_DURABILITY: durability };
    const as = (user: string) => ({ REDIS_URL: cluster.urlOf(user), QUEUE_REDIS_URL: cluster.urlOf(user) });
    const serviceEnv = { gateway: as('gateway-jobs'), verifier: as('verifier'), 'agent-worker': as('agent-worker') };
    stack = await startStack({ redis, agentWorkers: 1, env, ...(users === null ? {} : { serviceEnv }) });
    const { token } = await stack.agents!.createApiKey(['submit', 'read']);
    client = createAgentClient(stack.baseUrl, token);
  });

  afterAll(async () => {
    const { hasFailedTest } = globalThis as { hasFailedTest?: boolean };
    if (hasFailedTest) process.stderr.write(stack.logs());
    await stack.stop();
    await cluster.stop();
    users?.remove();
  });

  it('sell for hashes and signatures, and do jobs', () => sellToAll(stack, client));

  it(`go on with both after a ${durability === 'local' ? 'primary was killed' : 'replica came back'}`, async () => {
    if (durability === 'local') {
      cluster.primaries[1]!.signal('SIGKILL');
      await noticeFailover(cluster, stack);
    } else await cluster.replicas[1]!.kill().then(() => cluster.replicas[1]!.start());
    await retryUntilPaid(() => fetch(`${stack.baseUrl}/health/ready`));
    await sellToAll(stack, client);
  });

  it('do nothing that the servers refuse', async () => {
    for (const { port } of [...cluster.primaries, ...cluster.replicas]) {
      const admin = new Redis({ port, password: CLUSTER_PASSWORD, retryStrategy: () => null });
      admin.on('error', () => undefined);
      // One of them was killed.
      const refusals = await readAclRefusals(admin).catch(() => []);
      admin.disconnect();
      expect(refusals).toEqual([]);
    }
  });
});

describe.each([
  { name: 'a ledger on a cluster and queues on one server', isLedgerOnCluster: true },
  { name: 'a ledger on one server and queues on a cluster', isLedgerOnCluster: false },
])('$name', ({ isLedgerOnCluster }) => {
  let cluster: StartedCluster;
  let server: RedisServer;
  let stack: Stack;

  beforeAll(async () => {
    cluster = await startCluster();
    server = await startRedis({ plain: true });
    const [ledger, queues] = isLedgerOnCluster ? [cluster.url, server.url] : [server.url, cluster.url];
    const redis = { ...server, url: ledger };
    stack = await startStack({ redis, agentWorkers: 1, env: { SIGNED_PAYMENTS: 'true', QUEUE_REDIS_URL: queues } });
  });

  afterAll(async () => {
    await stack.stop();
    await server.stop();
    await cluster.stop();
  });

  it('sells for hashes and signatures, and does jobs', async () => {
    const { token } = await stack.agents!.createApiKey(['submit', 'read']);
    await sellToAll(stack, createAgentClient(stack.baseUrl, token));
  });
});
