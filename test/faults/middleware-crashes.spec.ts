import { randomUUID } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

import { ApiKeyStore } from '@tollgate/http';
import { encodeJsonHeader } from '@tollgate/protocol';
import { Redis } from 'ioredis';

import type { ShopConfiguration } from '../../packages/middleware/test/run-shop.js';
import { readBalance } from '../../tools/devnet/chain/read-balance.js';
import { signAuthorization } from '../../tools/devnet/chain/sign-authorization.js';
import { startHttpTap, type HttpTap } from '../../tools/devnet/interop/http-tap.js';
import { startChild, type Child } from '../../tools/devnet/processes/child-process.js';
import { startTcpProxy, type TcpProxy } from '../harness/network/tcp-proxy.js';
import { retryUntilPaid } from '../harness/retry.js';
import { useStack } from '../harness/stack/use-stack.js';

// Processes are killed and restarted, which is slow on a busy machine.
jest.setTimeout(180_000);

/**
 * A server behind our middleware is killed with SIGKILL during a sale; another server on the same Redis is asked next.
 */
describe('a payer is answered by another server, and charged once, when the first server dies', () => {
  const stack = useStack({ env: { FACILITATOR: 'true', RELAYER_POLL_MS: '20' } });
  let token: string;
  let facilitator: HttpTap;
  let network: TcpProxy;
  let upstream: Server;
  let made = 0;
  let whileMaking: () => void;
  let other: Shop;
  let dying: Shop;

  type Shop = { readonly url: string; readonly child: Child };

  async function startShop(
    name: string,
    redisPort: number,
    {
      gate = {},
      ...options
    }: Partial<Pick<ShopConfiguration, 'clockAheadMs' | 'diesWhenOwed'>> & {
      gate?: Partial<ShopConfiguration['gate']>;
    } = {},
  ): Promise<Shop> {
    const { asset, payTo, chainId } = stack().chain;
    const configuration: ShopConfiguration = {
      ...options,
      gate: {
        facilitator: { url: `${facilitator.url}/facilitator`, apiKey: token },
        payTo,
        chainId,
        asset: { address: asset, name: 'USDC', version: '2', decimals: 6 },
        // Both servers are the same shop.
        publicUrl: 'https://shop.example',
        leaseSeconds: 2,
        ...gate,
      },
      redisUrl: `redis://127.0.0.1:${redisPort}`,
      upstreamUrl: `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`,
    };
    const child = await startChild({
      name,
      command: process.execPath,
      args: ['scripts/typescript.cjs', 'packages/middleware/test/run-shop.ts'],
      env: { PATH: process.env['PATH'], SHOP: JSON.stringify(configuration) },
    });
    const [, url = ''] = await child.waitForLine(/^ready (\S+)/, 120_000);
    return { url, child };
  }

  beforeAll(async () => {
    const redis = new Redis(stack().redis.url);
    ({ token } = await new ApiKeyStore(redis).create({ name: 'shop', scopes: ['settle'], wallets: [] }));
    redis.disconnect();
    facilitator = await startHttpTap(stack().baseUrl);
    network = await startTcpProxy(stack().redis.port);
    upstream = createServer((_request, response) => {
      whileMaking();
      response.end(`the goods, made for the ${++made}. time`);
    });
    await new Promise<void>((resolve) => void upstream.listen(0, '127.0.0.1', resolve));
    other = await startShop('other shop', stack().redis.port);
  }, 180_000);

  afterAll(async () => {
    await other?.child.end('SIGKILL');
    upstream?.closeAllConnections();
    upstream?.close();
    await network?.stop();
    await facilitator?.stop();
  });

  beforeEach(async () => {
    made = 0;
    whileMaking = () => undefined;
    facilitator.exchanges.length = 0;
    dying = await startShop('dying shop', network.port);
  });

  afterEach(async () => {
    await dying.child.end('SIGKILL');
    facilitator.interfere();
    network.release();
  });

  const die = () => dying.child.end('SIGKILL');

  /** A request with a new payment of the chain's first account. */
  async function createRequest() {
    const { chain } = stack();
    const { authorization, signature } = await signAuthorization(chain, chain.accounts[0]!, { value: '1000' });
    const proof = { x402Version: 1, scheme: 'exact', network: 'sei-testnet', payload: { authorization, signature } };
    const payment = { 'X-Payment': encodeJsonHeader(proof) };
    return ({ url }: Shop, headers: Record<string, string>) =>
      fetch(`${url}/goods`, { headers: { ...payment, ...headers } });
  }

  async function expectNoAnswer(answer: Promise<Response>, from: Shop): Promise<void> {
    expect(await answer.then((response) => response.text()).catch(() => 'no answer')).toBe('no answer');
    expect(await from.child.exited).toEqual({ code: null, signal: 'SIGKILL' });
  }

  /** Presents a payment to the server that dies, and then to the other one, also without its secret. */
  async function expectAnswer(
    names: Record<string, string>,
    next: Shop = other,
  ): Promise<{ body: string; isReplay: boolean }> {
    const { chain } = stack();
    const before = await readBalance(chain, chain.payTo);
    const show = await createRequest();
    await expectNoAnswer(show(dying, names), dying);
    const { body, isReplay } = await retryUntilPaid(() => show(next, names), [409, 503]);
    for (const stranger of [{}, { 'Idempotency-Key': randomUUID() }]) {
      expect((await show(next, stranger)).status).toBe(402);
    }
    expect((await readBalance(chain, chain.payTo)) - before).toBe(1000n);
    const settlements = facilitator.exchanges.filter(({ request }) => request.path.endsWith('/settle'));
    expect(new Set(settlements.map(({ request }) => request.headers['idempotency-key'])).size).toBe(1);
    return { body, isReplay };
  }

  const named = () => ({ 'Idempotency-Key': randomUUID() });

  it('in its handler', async () => {
    whileMaking = () => void (made === 0 && die());
    expect(await expectAnswer(named())).toEqual({ body: 'the goods, made for the 2. time', isReplay: false });
  });

  it('after it stored the answer, and the key that it would settle under', async () => {
    void network.holdRepliesTo('"state":"settling"').then(die);
    expect(await expectAnswer(named())).toEqual({ body: 'the goods, made for the 1. time', isReplay: false });
  });

  it.each([
    ['whose payer identified its request', named],
    ['whose payer did not', () => ({})],
  ])('when the facilitator has settled a payment %s', async (_whose, names) => {
    let settled = 0;
    facilitator.interfere(async (request, send) => {
      const answer = await send(request);
      if (request.path.endsWith('/settle') && settled++ === 0) await die();
      return answer;
    });
    expect(await expectAnswer(names())).toEqual({ body: 'the goods, made for the 1. time', isReplay: false });
    const replies = facilitator.exchanges.filter(({ request }) => request.path.endsWith('/settle'));
    expect(replies.map(({ answer }) => (JSON.parse(answer.body) as { success: boolean }).success)).toEqual([
      true,
      true,
    ]);
    expect(replies[1]!.answer.body).toBe(replies[0]!.answer.body);
  });

  it('after it stored that it is sold, and before it sent any of it', async () => {
    void network.holdRepliesTo('"state":"sold"').then(die);
    expect(await expectAnswer(named())).toEqual({ body: 'the goods, made for the 1. time', isReplay: true });
  });

  describe('behind a facilitator that ignores keys', () => {
    let settled: number;
    let whenSettled: () => Promise<unknown>;

    beforeEach(() => {
      settled = 0;
      whenSettled = async () => undefined;
      facilitator.interfere(async (request, send) => {
        if (!request.path.endsWith('/settle')) return send(request);
        if (settled++ > 0) {
          const errorReason = 'invalid_exact_evm_nonce_already_used';
          const body = JSON.stringify({ success: false, errorReason, transaction: '', network: 'sei-testnet' });
          return { status: 200, headers: { 'content-type': 'application/json' }, body };
        }
        const answer = await send(request);
        await whenSettled();
        const headers = Object.entries(answer.headers).filter(([name]) => name !== 'idempotency-key');
        return { ...answer, headers: Object.fromEntries(headers) };
      });
    });

    it('before it asked', async () => {
      void network.holdRepliesTo('"state":"settling"').then(die);
      expect(await expectAnswer(named())).toEqual({ body: 'the goods, made for the 1. time', isReplay: false });
    });

    it('before it got the answer, which the chain has too', async () => {
      await dying.child.end('SIGKILL');
      const gate = { rpcUrl: stack().chain.rpcUrl };
      dying = await startShop('dying shop', network.port, { gate });
      const reading = await startShop('reading shop', stack().redis.port, { gate });
      try {
        whenSettled = die;
        const answer = await expectAnswer(named(), reading);
        expect(answer).toEqual({ body: 'the goods, made for the 1. time', isReplay: false });
      } finally {
        await reading.child.end('SIGKILL');
      }
    });

    it('before it got the answer, and before it stored that the owner knows', async () => {
      whenSettled = die;
      const [show, names] = [await createRequest(), named()];
      await expectNoAnswer(show(dying, names), dying);
      expect(await retryUntilPaid(() => show(other, names), [409], 503)).toMatchObject({ isReplay: false });
      const clockAheadMs = 2 * 3_600_000;
      const late = await startShop('late shop', stack().redis.port, { clockAheadMs, diesWhenOwed: true });
      await expectNoAnswer(show(late, names), late);
      const last = await startShop('last shop', stack().redis.port, { clockAheadMs });
      try {
        await retryUntilPaid(() => show(last, names), [409], 410);
        expect((await show(last, names)).status).toBe(410);
        const told = [late, last].map(({ child }) =>
          [...child.logs().matchAll(/^owed (\S+)$/gm)].map(([, name]) => name),
        );
        expect(told).toEqual([[expect.stringMatching(/^1328:/)], told[0]]);
        expect(made).toBe(1);
      } finally {
        await last.child.end('SIGKILL');
      }
    });
  });
});
