import { startPaidServer, type Interference, type PaidServer } from '../../test/paid-server.js';
import { assetOf, useChain, useMade, useOpened, useServer, useTransferCount, walletOf } from '../../test/set-up.js';
import { startSigningShop } from '../../test/signing-shop.js';
import type { PaymentOptions } from '../sign/payment-options.js';
import { MemoryPaymentStore } from '../store/payment-store.js';
import { fetchWithPayment } from './fetch-with-payment.js';

describe('a released payment', () => {
  const chain = useChain();
  const open = useOpened();
  const server = useServer(() => startPaidServer(chain));
  const store = useMade(() => new MemoryPaymentStore());
  const payer = () => chain.accounts[5]!;
  const transfers = useTransferCount(chain, () => payer().address);
  const release: Interference = (response) => {
    response.writeHead(400, { 'X-Payment-Released': 'true' }).end('a typo');
    return true;
  };

  function createPaying(account = payer(), change: Partial<PaymentOptions> = {}) {
    const wallet = walletOf(chain, account);
    const assets = [assetOf(chain)];
    return fetchWithPayment(fetch, wallet, { assets, maxAmount: '0.01', store, ...change });
  }
  const post = (city: string, key?: string): RequestInit => ({
    method: 'POST',
    body: JSON.stringify({ city }),
    headers: key === undefined ? {} : { 'Idempotency-Key': key },
  });
  const keysOf = () => server.paid().map(({ headers }) => headers['idempotency-key']);

  it("pays for the corrected request, under the key that it was sent with, which stands for the caller's", async () => {
    const pay = createPaying();
    server.interfere = [release];
    expect((await pay(server.url, post('Brn', 'order-1'))).status).toBe(400);
    const corrected = await pay(server.url, post('Bern', 'order-2'));
    expect(await corrected.json()).toEqual({ conditions: 'Clear', number: 1 });
    const again = await createPaying()(server.url, post('Bern', 'order-2'));
    expect([again.headers.get('idempotent-replayed'), await again.json()]).toEqual([
      'true',
      { conditions: 'Clear', number: 1 },
    ]);
    expect([await transfers(), keysOf()]).toEqual([1, ['order-1', 'order-1', 'order-1']]);
    expect(await pay(server.url, post('Basel', 'order-2')).catch((error: unknown) => error)).toMatchObject({
      code: 'idempotency_key_reused',
    });
  });

  it('pays for a corrected query too, and for its own request until then', async () => {
    const pay = createPaying();
    server.interfere = [release, release];
    for (let call = 0; call < 2; call += 1) expect((await pay(`${server.url}?city=Brn`)).status).toBe(400);
    expect((await pay(`${server.url}?city=Bern`)).status).toBe(200);
    expect(await transfers()).toBe(1);
    // What was moved is not presented by its former request.
    expect(await (await pay(`${server.url}?city=Brn`)).json()).toMatchObject({ number: 2 });
    expect(await transfers()).toBe(2);
  });

  it('that was signed pays for the corrected request by the same signature', async () => {
    const shop = await open(startSigningShop(chain, 2));
    shop.interfere = [(response) => void response.writeHead(400, { 'X-Payment-Released': 'true' }).end()];
    const pay = createPaying();
    await pay(shop.url, post('Brn'));
    expect(await (await pay(shop.url, post('Bern'))).text()).toBe('the goods');
    expect([new Set(shop.shown.map(({ header }) => header)).size, await transfers()]).toEqual([1, 1]);
  });

  it('is taken by one of two calls at once', async () => {
    const pay = createPaying();
    server.interfere = [release];
    await pay(server.url, post('Brn'));
    const answers = await Promise.all(['Bern', 'Basel'].map((city) => pay(server.url, post(city))));
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect([await transfers(), new Set(keysOf()).size]).toEqual([2, 2]);
  });

  it('is taken twice at most', async () => {
    const pay = createPaying();
    server.interfere = [release, release, release];
    for (const city of ['Brn', 'Ben', 'Ber']) expect((await pay(server.url, post(city))).status).toBe(400);
    expect(await transfers()).toBe(1);
    expect((await pay(server.url, post('Bern'))).status).toBe(200);
    expect(await transfers()).toBe(2);
    // The last request that took it still has it.
    expect((await pay(server.url, post('Ber'))).status).toBe(200);
    expect(await transfers()).toBe(2);
  });

  it.each<[string, (other: PaidServer) => Promise<Response>]>([
    ['path', () => createPaying()(`${server.url}/now`, post('Bern'))],
    ['method', () => createPaying()(server.url, { ...post('Bern'), method: 'PUT' })],
    ['origin', (other) => createPaying()(other.url, post('Bern'))],
    ['payer', () => createPaying(chain.accounts[6])(server.url, post('Bern'))],
    [
      'price',
      () => {
        server.challenge = { maxAmountRequired: '1001' };
        return createPaying()(server.url, post('Bern'));
      },
    ],
  ])('is not used for another %s', async (_case, buy) => {
    const other = await open(startPaidServer(chain));
    server.interfere = [release];
    await createPaying()(server.url, post('Brn'));
    const [released] = keysOf();
    expect((await buy(other)).status).toBe(200);
    expect([...keysOf(), ...other.paid().map(({ headers }) => headers['idempotency-key'])]).toEqual([
      released,
      expect.not.stringMatching(String(released)),
    ]);
  });

  it('is one that the server calls so: without its header another payment is made', async () => {
    const pay = createPaying();
    server.interfere = [
      (response) => {
        response.writeHead(400).end();
        return true;
      },
    ];
    await pay(server.url, post('Brn'));
    expect((await pay(server.url, post('Bern'))).status).toBe(200);
    expect(await transfers()).toBe(2);
  });

  it('is not used for another request after a day', async () => {
    const pay = createPaying();
    server.interfere = [release];
    await pay(server.url, post('Brn'));
    for (const { key, payment, revision } of await store.list())
      await store.write(key, { ...payment, createdAtMs: payment.createdAtMs - 24 * 3_600_000 }, revision);
    expect((await pay(server.url, post('Bern'))).status).toBe(200);
    expect(await transfers()).toBe(2);
  });
});
