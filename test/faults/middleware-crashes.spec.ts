import { randomUUID } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

import { ApiKeyStore } from '@tollgate/common';
import { encodeJsonHeader } from '@tollgate/protocol';
import { Redis } from 'ioredis';

import type { ShopConfiguration } from '../../packages/gate/test/run-shop.js';
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
  let other: { url: string; child: Child };
  let dying: { url: string; child: Child };

  async function startShop(name: string, redisPort: number): Promise<{ url: string; child: Child }> {
    const { asset, payTo, chainId } = stack().chain;
    const configuration: ShopConfiguration = {
      gate: {
        facilitator: { url: `${facilitator.url}/facilitator`, apiKey: token },
        ...{ payTo, chainId, asset: { address: asset, name: 'USDC', version: '2', decimals: 6 } },
        // Both servers are the same shop.
        publicUrl: 'https://shop.example',
        leaseSeconds: 2,
      },
      redisUrl: `redis://127.0.0.1:${redisPort}`,
      upstreamUrl: `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`,
    };
    const child = await startChild({
      name,
      command: process.execPath,
      args: ['scripts/typescript.cjs', 'packages/gate/test/run-shop.ts'],
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

  /** Presents a payment to the server that dies, and then to the other one, also without its secret. */
  async function expectAnswer(names: Record<string, string>): Promise<{ body: string; isReplay: boolean }> {
    const { chain } = stack();
    const before = await readBalance(chain, chain.payTo);
    const { authorization, signature } = await signAuthorization(chain, chain.accounts[0]!, { value: '1000' });
    const proof = { x402Version: 1, scheme: 'exact', network: 'sei-testnet', payload: { authorization, signature } };
    const payment = { 'X-Payment': encodeJsonHeader(proof) };
    const show = (url: string, headers: Record<string, string>) =>
      fetch(`${url}/goods`, { headers: { ...payment, ...headers } });
    const lost = show(dying.url, names).then((response) => response.text());
    expect(await lost.catch(() => 'no answer')).toBe('no answer');
    expect(await dying.child.exited).toEqual({ code: null, signal: 'SIGKILL' });
    const { body, isReplay } = await retryUntilPaid(() => show(other.url, names), [409, 503]);
    for (const stranger of [{}, { 'Idempotency-Key': randomUUID() }]) {
      expect((await show(other.url, stranger)).status).toBe(402);
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

  it('after it stored the key that it would settle under', async () => {
    void network.holdRepliesTo('"state":"asked"').then(die);
    expect(await expectAnswer(named())).toEqual({ body: 'the goods, made for the 2. time', isReplay: false });
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
    expect(await expectAnswer(names())).toEqual({ body: 'the goods, made for the 2. time', isReplay: false });
    const replies = facilitator.exchanges.filter(({ request }) => request.path.endsWith('/settle'));
    expect(replies.map(({ answer }) => (JSON.parse(answer.body) as { success: boolean }).success)).toEqual([
      true,
      true,
    ]);
    expect(replies[1]!.answer.body).toBe(replies[0]!.answer.body);
  });

  it('after it stored the answer, and before it sent any of it', async () => {
    void network.holdRepliesTo('"state":"sold"').then(die);
    expect(await expectAnswer(named())).toEqual({ body: 'the goods, made for the 1. time', isReplay: true });
  });
});
