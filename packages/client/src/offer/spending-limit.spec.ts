import axios from 'axios';

import { startPaidServer } from '../../test/paid-server.js';
import { assetOf, useChain, useOpened, useServer, useTransferCount, useWallet, walletOf } from '../../test/set-up.js';
import { startSigningShop } from '../../test/signing-shop.js';
import { payWithAxios } from '../axios.js';
import { fetchWithPayment, payForResource } from '../fetch/fetch-with-payment.js';
import type { PaymentOptions } from '../sign/payment-options.js';
import { SpendingLimit } from './spending-limit.js';

describe('SpendingLimit', () => {
  const chain = useChain();
  const open = useOpened();
  const server = useServer(() => startPaidServer(chain));
  const payer = () => chain.accounts[3]!;
  const wallet = useWallet(chain, payer);
  const transfers = useTransferCount(chain, () => payer().address);
  const options = (maxTotal: string | SpendingLimit): PaymentOptions => ({
    assets: [assetOf(chain)],
    maxAmount: '0.001',
    maxTotal,
  });
  const urlOf = (name: string) => `${server.url}/${name}`;
  const codesOf = async (calls: Promise<unknown>[]): Promise<unknown[]> => {
    const settled = await Promise.allSettled(calls);
    return settled.map((one) => (one.status === 'fulfilled' ? 'paid' : (one.reason as { code: string }).code)).sort();
  };

  it('limits all clients that share it together, in parallel too', async () => {
    const limit = new SpendingLimit('0.0039');
    const payingFetch = fetchWithPayment(fetch, wallet, options(limit));
    const instance = axios.create();
    payWithAxios(instance, wallet, options(limit));
    const codes = await codesOf([
      ...['a', 'b'].map((name) => payingFetch(urlOf(name))),
      ...['c', 'd'].map((name) => instance.get(urlOf(name))),
      ...['e', 'f'].map((name) => payForResource(urlOf(name), wallet, options(limit))),
    ]);
    expect(codes).toEqual([...Array<string>(3).fill('over_limit'), ...Array<string>(3).fill('paid')]);
    expect(await transfers()).toBe(3);
  });

  it('counts signed payments as well as sent ones', async () => {
    const shop = await open(startSigningShop(chain, 2));
    const payingFetch = fetchWithPayment(fetch, wallet, options(new SpendingLimit('0.0019')));
    const codes = await codesOf([payingFetch(shop.url), payingFetch(urlOf('a'))]);
    expect([codes, await transfers()]).toEqual([['over_limit', 'paid'], 1]);
  });

  it('counts two concurrent calls for the same request once', async () => {
    const payingFetch = fetchWithPayment(fetch, wallet, options(new SpendingLimit('0.001')));
    expect(await codesOf([payingFetch(server.url), payingFetch(server.url)])).toEqual(['paid', 'paid']);
    expect(await transfers()).toBe(1);
  });

  it('gets back amounts that were not signed', async () => {
    const limit = new SpendingLimit('0.001');
    const poor = walletOf(chain, { privateKey: `0x${'42'.repeat(32)}` });
    expect(await codesOf([fetchWithPayment(fetch, poor, options(limit))(urlOf('a'))])).toEqual(['cannot_pay']);
    expect(await codesOf([fetchWithPayment(fetch, wallet, options(limit))(urlOf('b'))])).toEqual(['paid']);
  });

  it('is separate for each client if it is text, and for each call of payForResource', async () => {
    const payingFetches = ['a', 'b'].map((name) => fetchWithPayment(fetch, wallet, options('0.001'))(urlOf(name)));
    const payments = ['c', 'd'].map((name) => payForResource(urlOf(name), wallet, options('0.001')));
    expect(await codesOf([...payingFetches, ...payments])).toEqual(Array<string>(4).fill('paid'));
  });

  it('is refused at once if it is not a valid amount', () => {
    const create = () => fetchWithPayment(fetch, wallet, options(new SpendingLimit('0.0000001')));
    expect(create).toThrow(expect.objectContaining({ code: 'invalid_amount' }));
  });
});
