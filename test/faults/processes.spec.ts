import type { RequestListener } from 'node:http';

import { listPayments } from '@tollgate/ledger';
import { Redis } from 'ioredis';

import { startRedis, type RedisServer } from '../../tools/devnet/processes/redis.js';
import { startTcpProxy, type TcpProxy } from '../harness/network/tcp-proxy.js';
import { outcomeOf, payLocked, type Paid } from '../harness/payments/pay.js';
import { startShop, type Shop } from '../harness/payments/start-shop.js';
import { retryUntilPaid, waitFor } from '../harness/retry.js';

const QUOTE = '/v1/quotes/A';

/** Processes that die at the worst moments: by SIGKILL, so that they clean up nothing. */
describe('a payer is served, once, when', () => {
  let redisServer: RedisServer;
  let redis: Redis;
  let network: TcpProxy;
  let shop: Shop;
  let answer: RequestListener;

  beforeAll(async () => {
    redisServer = await startRedis();
    redis = new Redis(redisServer.url);
    network = await startTcpProxy(redisServer.port);
    // Redis is behind a proxy, so that its reply to a commit can be lost on the way to the gateway.
    const url = `redis://127.0.0.1:${network.port}`;
    shop = await startShop({
      redis: redisServer,
      gateways: 2,
      verifiers: 2,
      env: {
        REDIS_URL: url,
        QUEUE_REDIS_URL: url,
        LEASE_MS: '1500',
        VERIFY_RETRY_MS: '500',
        // Two verifiers are killed and started again meanwhile, on a busy machine too.
        VERIFY_DEADLINE_MS: '100000',
        RPC_TIMEOUT_MS: '4000',
      },
    });
    answer = shop.upstream.answer;
  });

  afterAll(async () => {
    await shop?.stop();
    redis.disconnect();
    await network.stop();
    await redisServer.stop();
  });

  beforeEach(() => {
    shop.upstream.requests.length = 0;
    shop.upstream.answer = answer;
    shop.rpc.requests.length = 0;
    shop.rpc.fail(undefined);
  });

  const buy = () => payLocked(shop.chain, shop.url(QUOTE));
  const redeem = ({ proof }: Paid, gateway = 0) =>
    fetch(shop.url(QUOTE, gateway), { headers: { 'X-Payment': proof, 'Idempotency-Key': 'k' } });
  const upstreamKeys = () => shop.upstream.requests.map(({ headers }) => headers['idempotency-key']);

  /** The ledger's entries for a transaction, as `state generation` of each payment. */
  async function readLedger({ txHash }: Paid): Promise<string[]> {
    const { payments } = await listPayments(redis, { limit: 1000 });
    return payments
      .filter(({ id }) => id.kind === 'transfer' && id.txHash === txHash)
      .map(({ state, generation }) => `${state} ${generation}`);
  }

  it('the verifier that reads the chain is killed', async () => {
    const paid = await buy();
    shop.rpc.fail({ kind: 'hang' });
    const answered = redeem(paid);
    await waitFor('a look-up', () => shop.rpc.requests.flat().includes('eth_getTransactionReceipt'));
    // Either verifier may hold the question, and its look-up hangs. Kill both, then let the chain answer again.
    await shop.stack.verifiers[0]!.kill('SIGKILL');
    await shop.stack.verifiers[1]!.kill('SIGKILL');
    shop.rpc.fail(undefined);
    await Promise.all(shop.stack.verifiers.map((verifier) => verifier.restart()));
    expect(await outcomeOf(answered)).toEqual([200, null]);
    expect(await readLedger(paid)).toEqual(['answered 1']);
    expect(upstreamKeys()).toHaveLength(1);
  });

  it('one verifier of two is killed while it holds the question: the gateway asks the other', async () => {
    const paid = await buy();
    shop.stack.verifiers[0]!.signal('SIGSTOP');
    // Each question goes to one of the two. With several payers, some questions are unread in the stopped verifier's
    // socket.
    const others = await Promise.all([buy(), buy(), buy()]);
    const answers = [paid, ...others].map((each) => redeem(each));
    await shop.stack.verifiers[0]!.kill('SIGKILL');
    for (const each of answers) expect(await outcomeOf(each)).toEqual([200, null]);
    for (const each of [paid, ...others]) expect(await readLedger(each)).toEqual(['answered 1']);
    await shop.stack.verifiers[0]!.restart();
  });

  it('the gateway is killed after the claim and before the commit: the same key takes over, later', async () => {
    const paid = await buy();
    shop.upstream.answer = () => undefined;
    const lost = redeem(paid).catch(() => 'lost');
    await waitFor('a request to the upstream', () => shop.upstream.requests.length === 1);
    await shop.stack.gateways[0]!.kill('SIGKILL');
    expect(await lost).toBe('lost');
    expect(await readLedger(paid)).toEqual(['leased 1']);
    shop.upstream.answer = answer;
    expect((await retryUntilPaid(() => redeem(paid, 1), [409, 503])).isReplay).toBe(false);
    expect(await readLedger(paid)).toEqual(['answered 2']);
    expect(upstreamKeys()).toEqual([upstreamKeys()[0], upstreamKeys()[0]]);
    await shop.stack.gateways[0]!.restart();
  });

  it('the gateway is killed after the commit and before the answer: the stored answer is sent', async () => {
    const paid = await buy();
    shop.upstream.answer = (_, response) => response.end('the answer that was committed');
    const committed = network.holdRepliesTo('the answer that was committed');
    const lost = redeem(paid).catch(() => 'lost');
    await committed;
    expect(await readLedger(paid)).toEqual(['answered 1']);
    await shop.stack.gateways[0]!.kill('SIGKILL');
    expect(await lost).toBe('lost');
    network.release();
    const { body, isReplay } = await retryUntilPaid(() => redeem(paid, 1));
    expect([body, isReplay]).toEqual(['the answer that was committed', true]);
    expect(shop.upstream.requests).toHaveLength(1);
    await shop.stack.gateways[0]!.restart();
  });

  it('the reply to the commit is lost: no client gets an answer that may not be committed', async () => {
    const paid = await buy();
    shop.upstream.answer = (_, response) => response.end('committed without a word');
    const committed = network.holdRepliesTo('committed without a word');
    const first = redeem(paid);
    await committed;
    network.release();
    const { status } = await first;
    expect([200, 503]).toContain(status);
    const { body } = await retryUntilPaid(() => redeem(paid, 1));
    expect(body).toBe('committed without a word');
    expect(await readLedger(paid)).toEqual(['answered 1']);
    expect(shop.upstream.requests).toHaveLength(1);
  });

  it('its gateway hangs past the lease, another takes over, and the first wakes with an answer of its own', async () => {
    const paid = await buy();
    let wake = (): void => undefined;
    shop.upstream.answer = (_, response) => {
      wake = () => void response.end('the answer of the one who slept');
    };
    const slept = redeem(paid);
    await waitFor('a request to the upstream', () => shop.upstream.requests.length === 1);
    shop.stack.gateways[0]!.signal('SIGSTOP');
    shop.upstream.answer = (_, response) => response.end('the answer of the one who took over');
    const taken = await retryUntilPaid(() => redeem(paid, 1));
    wake();
    shop.stack.gateways[0]!.signal('SIGCONT');
    // Its renewal or its commit finds the lease gone: it may answer 409, and nothing else.
    const late = await slept;
    expect([late.status, (await late.text()).includes('slept')]).toEqual([409, false]);
    const again = await redeem(paid);
    expect([taken.body, await again.text()]).toEqual(Array(2).fill('the answer of the one who took over'));
    expect(await readLedger(paid)).toEqual(['answered 2']);
    expect(new Set(upstreamKeys()).size).toBe(1);
  });
});
