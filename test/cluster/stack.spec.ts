import { presentV2, readChallenge } from '../../apps/gateway/test/present-payments.js';
import { OLDEST_FOR_CLUSTERS } from '../../scripts/find-redis-server.mjs';
import { signAuthorization } from '../../tools/devnet/chain/sign-authorization.js';
import { startRedis, type RedisServer } from '../../tools/devnet/processes/redis.js';
import { startStack, type Stack } from '../../tools/devnet/stack/stack.js';
import { createAgentClient, type AgentClient } from '../harness/agent-client.js';
import { payLocked } from '../harness/pay.js';
import { retryUntilPaid } from '../harness/retry.js';
import { startCluster, type StartedCluster } from './start-cluster.js';

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
  const jobId = await client.submit({ operation: 'transfer', wallet: wallet!.name, input });
  await client.waitFor(jobId, 'FINAL');
}

describe.each([
  { name: 'gateway, verifier and agent worker on a cluster', durability: 'local' },
  { name: 'the same when replicas must acknowledge', durability: 'replica' },
])('$name', ({ durability }) => {
  let cluster: StartedCluster;
  let stack: Stack;
  let client: AgentClient;

  beforeAll(async () => {
    cluster = await startCluster();
    const redis = { ...cluster.primaries[0]!, url: cluster.url, exited: () => new Promise<never>(() => undefined) };
    const env = { SIGNED_PAYMENTS: 'true', RELAYER_POLL_MS: '20', LEDGER_DURABILITY: durability };
    stack = await startStack({ redis, agentWorkers: 1, env });
    const { token } = await stack.agents!.createApiKey(['submit', 'read']);
    client = createAgentClient(stack.baseUrl, token);
  });

  afterAll(async () => {
    const { hasFailedTest } = globalThis as { hasFailedTest?: boolean };
    if (hasFailedTest) process.stderr.write(stack.logs());
    await stack.stop();
    await cluster.stop();
  });

  it('sell for hashes and signatures, and do jobs', () => sellToAll(stack, client));

  it(`go on with both after a ${durability === 'local' ? 'primary was killed' : 'replica came back'}`, async () => {
    if (durability === 'local') cluster.primaries[1]!.signal('SIGKILL');
    else await cluster.replicas[1]!.kill().then(() => cluster.replicas[1]!.start());
    await retryUntilPaid(() => fetch(`${stack.baseUrl}/health/ready`));
    await sellToAll(stack, client);
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
    server = await startRedis({ oldest: OLDEST_FOR_CLUSTERS });
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
