import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { listPayments, locatePayment, type RecordedRefusal } from '@tollgate/ledger';
import { Redis } from 'ioredis';

import { presentV2, readChallenge } from '../../apps/gateway/test/present-payments.js';
import { tollgate } from '../../tools/cli/test/run-tollgate.js';
import { startChain, type DevnetWithProtocols } from '../../tools/devnet/chain/chain.js';
import { signAuthorization } from '../../tools/devnet/chain/sign-authorization.js';
import { callRpc } from '../../tools/devnet/processes/json-rpc.js';
import { startStack, type Stack } from '../../tools/devnet/stack/stack.js';
import { startUpstream, type Upstream } from '../flows/start-upstream.js';
import { createAgentClient, type AgentClient } from '../harness/agents/agent-client.js';
import { readWalletHistory } from '../harness/agents/wallet-history.js';
import { outcomeOf, payLocked } from '../harness/payments/pay.js';
import { readTransfersTo } from '../harness/payments/read-transfers.js';
import { retryUntilPaid, waitFor } from '../harness/retry.js';

// Processes are stopped and started again, which is slow on a busy machine.
jest.setTimeout(180_000);

const ROUTES = 'routes:\n  - { path: /v1/quotes/:symbol, price: "0.001", upstream: "${UPSTREAM}" }\n';
const TRANSFER = { amount: '0.01', to: '0x00000000000000000000000000000000000a11ce' } as const;
const SWAP = { amount: '1', fromToken: 'USDC', toToken: 'WSEI' } as const;
const OLDER = [402, 'older_than_ledger'];

type Send = () => Promise<Response>;

/** The drill: the disk of Redis is lost, and a backup of some time before is restored. */
describe('a backup that was restored after the loss of Redis', () => {
  let chain: DevnetWithProtocols;
  let upstream: Upstream;
  let stack: Stack;
  let client: AgentClient;
  let redis: Redis;
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-drill-'));
  const file = join(folder, 'copy');

  beforeAll(async () => {
    writeFileSync(join(folder, 'routes.yaml'), ROUTES);
    chain = await startChain({ protocols: true });
    let made = 0;
    upstream = await startUpstream((_, response) => {
      made += 1;
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ made }));
    });
    stack = await startStack({
      chain,
      agentWorkers: 1,
      env: {
        SIGNED_PAYMENTS: 'true',
        ROUTES_FILE: join(folder, 'routes.yaml'),
        UPSTREAM: upstream.url,
        LANE_POLL_MS: '50',
        RELAYER_POLL_MS: '50',
      },
    });
    redis = new Redis(stack.redis.url, { retryStrategy: () => 20 });
    redis.on('error', () => undefined);
    client = createAgentClient(stack.baseUrl, (await stack.agents!.createApiKey(['submit', 'read'])).token);
  });

  afterAll(async () => {
    const { hasFailedTest } = globalThis as { hasFailedTest?: boolean };
    if (hasFailedTest) process.stderr.write(stack.logs());
    redis?.disconnect();
    await stack?.stop();
    await upstream?.stop();
    await chain?.stop();
    rmSync(folder, { recursive: true });
  });

  const operate = (...argv: string[]) => tollgate(argv, { REDIS_URL: stack.redis.url, RPC_URL: chain.rpcUrl });
  const url = () => `${stack.baseUrl}/v1/quotes/A`;
  const payByHash = async (): Promise<Send> => {
    const { proof } = await payLocked(chain, url());
    return () => fetch(url(), { headers: { 'X-Payment': proof } });
  };
  const sign = async (): Promise<Send> => {
    const signed = await signAuthorization(chain, chain.accounts[1]!, { value: '1000' });
    const headers = presentV2(await readChallenge(url()), signed);
    return () => fetch(url(), { headers });
  };
  const wallet = () => stack.agents!.wallets[0]!;
  const submit = (operation: 'transfer' | 'swap', key: string) =>
    client.submit({ operation, wallet: wallet().name, input: operation === 'swap' ? SWAP : TRANSFER }, key);
  const sentByWallet = async () =>
    (await readWalletHistory(chain.rpcUrl, [wallet().address])).get(wallet().lane.address)!;
  const processes = () => [...stack.gateways, ...stack.verifiers, ...stack.agentWorkers];
  /** What the recipient got, as the ledger would name it. */
  const readReceived = async () => {
    const { transfers } = await readTransfersTo(chain, chain.payTo, 0);
    return transfers.map(({ from, nonce, txHash }) =>
      nonce === null
        ? `tx:${chain.chainId}:${txHash}:0`
        : `auth:${chain.chainId}:${chain.asset.toLowerCase()}:${from}:${nonce}:auth`,
    );
  };
  const readKnown = async () =>
    (await listPayments(redis, { limit: 10_000 })).payments.map(({ id, state }) => {
      const { entry, slot } = locatePayment(id);
      return { name: `${entry}:${slot}`, state };
    });

  it('replays what was answered before, refuses what may have been answered since, and sends no job twice', async () => {
    // Before the backup: answered, paid and not redeemed, signed and not presented, a job done, and one in flight.
    const [hash, signed] = [await payByHash(), await sign()];
    const before = [await retryUntilPaid(hash), await retryUntilPaid(signed)];
    const [redeemedLater, notRedeemed, notPresented] = [await payByHash(), await payByHash(), await sign()];
    await client.waitFor(await submit('transfer', 'done'), 'FINAL');
    await callRpc(chain.rpcUrl, 'evm_setAutomine', [false]);
    const inFlight = await submit('swap', 'in-flight');
    await client.waitFor(inFlight, 'BROADCAST');
    await operate('backup', file);
    await callRpc(chain.rpcUrl, 'evm_setAutomine', [true]);
    await callRpc(chain.rpcUrl, 'evm_mine');

    // After the backup.
    await client.waitFor(inFlight, 'FINAL');
    const [laterHash, laterSigned] = [await payByHash(), await sign()];
    const since: Send[] = [redeemedLater, laterHash, laterSigned];
    for (const send of since) await retryUntilPaid(send);
    const lost = await client.waitFor(await submit('transfer', 'lost'), 'FINAL');
    const sentBefore = await sentByWallet();

    // The loss, and what the operator types.
    await stack.redis.kill();
    rmSync(stack.redis.dir, { recursive: true });
    mkdirSync(stack.redis.dir);
    await Promise.all(processes().map((one) => one.kill()));
    await stack.redis.start();
    expect(await operate('restore', file, '--check')).toContain('It can be restored here');
    await operate('restore', file);
    const known = await readKnown();
    const spent = new Set(known.filter(({ state }) => state === 'answered').map(({ name }) => name));
    const doubtful = (await readReceived()).filter((name) => !spent.has(name));
    const started = Promise.all(stack.agentWorkers.map((one) => one.restart()));
    await Promise.all([...stack.verifiers, ...stack.gateways].map((one) => one.restart()));
    upstream.requests.length = 0;

    // Payments.
    for (const [index, send] of [hash, signed].entries()) {
      expect(await retryUntilPaid(send)).toMatchObject({ body: before[index]!.body, isReplay: true });
    }
    for (const send of [...since, notRedeemed]) expect(await untilJudged(send)).toEqual(OLDER);
    expect(upstream.requests).toEqual([]);
    const first = await retryUntilPaid(notPresented);
    expect(await retryUntilPaid(notPresented)).toMatchObject({ body: first.body, isReplay: true });
    await retryUntilPaid(await payByHash());
    expect(upstream.requests).toHaveLength(2);
    const received = await readReceived();
    expect(new Set(received).size).toBe(received.length);
    // Who is owed an answer or a refund: what the chain has, less what the copy knows as answered.
    const refused = JSON.parse(await operate('payments', 'refused', '--json')) as RecordedRefusal[];
    expect(refused.map(({ payment }) => payment).sort()).toEqual(doubtful.sort());
    expect(doubtful).toHaveLength(4);
    for (const { failure, payer, amountBaseUnits } of refused) {
      expect([failure, payer === null, amountBaseUnits]).toEqual(['older_than_ledger', false, '1000']);
    }

    // Jobs: the wallet waits for an operator, also with the lost job that its client submits again.
    await waitFor('the freeze', async () => (await operate('wallets', 'list')).includes('the chain has transactions'));
    const [again, next] = [await submit('transfer', 'lost'), await submit('transfer', 'next')];
    expect(again).not.toBe(lost.id);
    await operate('wallets', 'adopt', wallet().name);
    for (const jobId of [again, next]) {
      expect((await client.waitFor(jobId, 'NEEDS_OPERATOR')).failure?.code).toBe('JOURNAL_LOST_WRITES');
    }
    await started;
    const resumed = await client.waitFor(inFlight, 'NEEDS_OPERATOR');
    expect(resumed.steps.map(({ mined }) => mined?.txHash)).toEqual([sentBefore[1]!.hash, undefined]);
    expect(await sentByWallet()).toEqual(sentBefore);
    await operate('jobs', 'abandon', inFlight);
    await operate('jobs', 'abandon', again);
    await operate('jobs', 'resume', next);
    const done = await client.waitFor(next, 'FINAL');
    expect((await sentByWallet()).slice(sentBefore.length).map(({ hash: sent }) => sent)).toEqual([
      done.steps[0]!.mined!.txHash,
    ]);
  });

  /** The first requests after the start may find a verifier that is not there yet. */
  async function untilJudged(send: Send): Promise<[number, string | null]> {
    for (;;) {
      const [status, failure] = await outcomeOf(send());
      if (status !== 503) return [status, failure];
    }
  }
});
