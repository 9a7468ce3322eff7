import axios, { type AxiosError } from 'axios';

import { startPaidServer } from '../test/paid-server.js';
import { assetOf, useChain, useServer, useTransfers, useWallet } from '../test/set-up.js';
import { payWithAxios } from './axios.js';
import type { PaymentOptions } from './sign/payment-options.js';

describe('payWithAxios', () => {
  const chain = useChain();
  const server = useServer(() => startPaidServer(chain));
  let options: PaymentOptions;
  const payer = () => chain.accounts[3]!;
  const wallet = useWallet(chain, payer);
  const transfers = useTransfers(chain, () => payer().address);

  beforeAll(async () => {
    const asset = assetOf(chain);
    options = { assets: [asset], maxAmount: '0.001' };
  });

  function createPaying(change: Partial<PaymentOptions> = {}) {
    const instance = axios.create({ baseURL: server.origin, timeout: 5_000, headers: { 'X-Own': 'yes' } });
    payWithAxios(instance, wallet, { ...options, ...change });
    return instance;
  }

  it('pays a 402 once, and returns the answer in the form of axios', async () => {
    const response = await createPaying().get<{ conditions: string }>('/api/weather', { params: { city: 'Bern' } });
    expect([response.status, response.data.conditions]).toEqual([200, 'Clear']);
    expect(await transfers()).toHaveLength(1);
    const [paid] = server.paid();
    expect(paid).toMatchObject({ url: '/api/weather?city=Bern', headers: { 'x-own': 'yes' } });
  });

  it('repeats a body unchanged', async () => {
    await createPaying().post('/api/weather', { city: 'Zürich' });
    const bodies = server.seen.map(({ method, body, headers }) => [method, body, headers['content-type']]);
    expect(new Set(bodies.map((one) => JSON.stringify(one)))).toEqual(
      new Set([JSON.stringify(['POST', '{"city":"Zürich"}', 'application/json'])]),
    );
    expect(server.paid()).toHaveLength(1);
  });

  it('leaves free resources and all other errors unchanged', async () => {
    expect((await createPaying().get<string>('/free')).data).toBe('free');
    const own = createPaying().get('/api/weather', { headers: { 'X-Payment': 'bm9uc2Vuc2U=' } });
    await expect(own).rejects.toMatchObject({ response: { status: 402 } });
    expect(await transfers()).toEqual([]);
  });

  it('reports why it did not pay', async () => {
    const dear = createPaying({ maxAmount: '0.0001' }).get('/api/weather');
    const error = (await dear.catch((thrown: unknown) => thrown)) as AxiosError;
    expect(error).toMatchObject({ code: 'over_limit', cause: { name: 'PaymentError' } });
    expect(await transfers()).toEqual([]);
  });

  it('refuses invalid options at once', () => {
    expect(() => createPaying({ maxAmount: 'much' })).toThrow(expect.objectContaining({ code: 'invalid_amount' }));
  });
});
