import type { ServerResponse } from 'node:http';

import { parseChallenge } from '@tollgate/protocol';

import { startPaidServer } from '../../test/paid-server.js';
import { expectFailure, useChain, useServer } from '../../test/set-up.js';
import { createWallet } from '../account/create-wallet.js';
import { createPaymentCall } from '../sign/create-payment-to-sign.js';
import type { RedeemablePayment } from '../store/payment-store.js';
import { redeemPaidRequest } from './redeem-payment.js';

describe('redeeming a payment that the caller stores', () => {
  const chain = useChain();
  const server = useServer(() => startPaidServer(chain));

  /** Requests, signs, sends; stores nothing. */
  async function pay(): Promise<RedeemablePayment> {
    const { privateKey } = chain.accounts[5]!;
    const wallet = createWallet({ account: privateKey, rpcUrl: chain.rpcUrl, chainId: chain.chainId });
    const [requirement] = parseChallenge(await (await fetch(server.url)).json()).accepts;
    const transaction = await wallet.sign(createPaymentCall(requirement!));
    await wallet.broadcast(transaction);
    while (!(await wallet.readOutcome(transaction.txHash)));
    return {
      method: 'GET',
      url: server.url,
      idempotencyKey: 'key-1',
      payer: wallet.address,
      requirement: requirement!,
      transaction,
      authorization: null,
    };
  }

  it('returns the answer, and the same one again', async () => {
    const payment = await pay();
    const answers = [await redeemPaidRequest(payment, {}), await redeemPaidRequest(payment, {})];
    expect(answers.map(({ isFinal }) => isFinal)).toEqual([true, true]);
    const bodies = await Promise.all(answers.map(({ response }) => response.text()));
    expect(bodies).toEqual(Array(2).fill('{"conditions":"Clear","number":1}'));
    expect(server.paid()).toHaveLength(2);
  });

  it('reports that a failure is not final', async () => {
    server.interfere.push((response) => Boolean(response.writeHead(500).end('broken')));
    const { response, isFinal } = await redeemPaidRequest(await pay(), {});
    expect([response.status, isFinal]).toEqual([500, false]);
  });

  // Prevents: a paid transfer buys nothing because its resource is busy for some seconds.
  it('outlasts a busy resource, and keeps away from it for as long as it is told', async () => {
    const payment = await pay();
    const busy = (status: number, seconds: string) => (response: ServerResponse) =>
      Boolean(response.writeHead(status, { 'Retry-After': seconds, 'X-Payment-Released': 'true' }).end());
    server.interfere.push(...[503, 429, 503, 429, 503, 503].map((status) => busy(status, '0')));
    expect((await redeemPaidRequest(payment, { deadlineMs: 8_000 })).isFinal).toBe(true);
    expect(server.paid()).toHaveLength(7);
    server.interfere.push(busy(429, '3600'));
    const told = await redeemPaidRequest(payment, { deadlineMs: 600_000 });
    expect([told.response.status, told.isFinal, server.paid().length]).toEqual([429, false, 8]);
  });

  it('makes each attempt when its turn comes', async () => {
    server.interfere.push((response) => Boolean(response.writeHead(503, { 'Retry-After': '0' }).end()));
    const payment = await pay();
    const seen: number[] = [];
    const { isFinal } = await redeemPaidRequest(payment, {
      inTurn: (attempt) => {
        seen.push(server.paid().length);
        return attempt();
      },
    });
    expect({ isFinal, seen }).toEqual({ isFinal: true, seen: [0, 1] });
  });

  it('starts its time limit when its turn comes', async () => {
    const { isFinal } = await redeemPaidRequest(await pay(), {
      deadlineMs: 50_000,
      inTurn: async (attempt) => {
        const now = jest.spyOn(Date, 'now').mockReturnValue(Date.now() + 60_000);
        return attempt().finally(() => now.mockRestore());
      },
    });
    expect(isFinal).toBe(true);
  });

  it('ends with the signal, or at the deadline', async () => {
    const payment = await pay();
    const stop = new AbortController();
    server.interfere.push(() => {
      stop.abort(new Error('enough'));
      return true;
    });
    await expect(redeemPaidRequest(payment, { signal: stop.signal })).rejects.toThrow('enough');
    server.interfere.push(() => true);
    await expectFailure(redeemPaidRequest(payment, { deadlineMs: 200 }), 'payment_unredeemed');
  });
});
