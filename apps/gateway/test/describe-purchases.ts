import { nonceOf, payerOf, type Hex, type SignedPayment } from '@tollgate/protocol';

import type { ResourceRequest } from '../src/paywall/route/paid-route.js';
import { readChallenge, readHeader, type OfferedChallenge } from './present-payments.js';
import { ASSET, PAY_TO } from './start-gateway.js';
import { createHash, type Relay } from './start-relay.js';

/** A gateway that sells `/api/weather` for 1000 base units, and a relay. */
export interface PurchaseShop {
  relay: () => Relay;
  url: (path: string) => string;
  /** What the resource was asked for, and how many settlements had been by then, since the test began. */
  made: () => readonly ResourceRequest[];
  settledBefore: () => readonly number[];
  /** From now on the resource answers 500, or 200. */
  setFailing: (isFailing: boolean) => void;
}

/** How signed payments of one method are presented in one protocol. */
export interface PurchaseWay {
  name: string;
  /** A new payment. The same headers again are the same purchase. */
  present: (challenge: OfferedChallenge) => { payment: SignedPayment; headers: Record<string, string> };
  /** The base units that are moved. */
  charge: string;
  receipt: {
    header: string;
    create: (facts: { transaction: Hex | undefined; payer: Hex; challenge: OfferedChallenge }) => object;
  };
}

/** The rows that hold for a purchase in any way. */
export function describePurchases(
  way: PurchaseWay,
  { relay, url, made, settledBefore, setFailing }: PurchaseShop,
): void {
  const { header } = way.receipt;
  const buy = (headers: Record<string, string>) => fetch(url('/api/weather'), { headers });
  const order = async () => {
    const challenge = await readChallenge(url('/api/weather'));
    const { payment, headers } = way.present(challenge);
    const receiptOf = (transaction: Hex | undefined) =>
      way.receipt.create({ transaction, payer: payerOf(payment), challenge });
    return { payment, headers, receiptOf, nonce: nonceOf(payment) };
  };
  const withoutKey = ({ 'Idempotency-Key': _, ...headers }: Record<string, string>) => headers;

  describe(`a purchase by ${way.name}`, () => {
    it('is settled once its response is ready, which has the receipt, also on a repeat', async () => {
      const { payment, headers, receiptOf, nonce } = await order();
      const [first, again] = [await buy(headers), await buy(headers)];
      for (const response of [first, again]) {
        expect(response.status).toBe(200);
        expect(readHeader(response, header)).toEqual(receiptOf(relay().moved.get(nonce)));
      }
      expect(again.headers.get(header)).toBe(first.headers.get(header));
      const receipts = ['payment-response', 'x-payment-response', 'payment-receipt'];
      expect(receipts.filter((name) => first.headers.has(name))).toEqual([header]);
      expect(first.headers.get('cache-control')).toBe('private');
      expect(again.headers.get('idempotent-replayed')).toBe('true');
      expect(await again.text()).toBe(await first.text());
      expect(made()).toMatchObject([{ path: '/api/weather', verification: { isValid: true } }]);
      expect(made()[0]?.verification).not.toHaveProperty('txHash');
      expect(settledBefore()).toEqual([0]);
      const [asset, payTo] = [ASSET.toLowerCase(), PAY_TO.toLowerCase()];
      const terms = { chainId: 1328, asset, assetName: 'USDC', assetVersion: '2', payTo, priceBaseUnits: '1000' };
      expect(relay().asked).toMatchObject([{ amountBaseUnits: way.charge, payment: { kind: payment.kind }, terms }]);
      expect(relay().asked.map((asked) => nonceOf(asked.payment))).toEqual([nonce]);
    });

    it('is not settled again if another process has settled it', async () => {
      const { headers, receiptOf, nonce } = await order();
      const txHash = createHash();
      relay().looks.set(nonce, async (request) => {
        const verdict = await relay().claim(request);
        return verdict.outcome === 'claimed' ? { ...verdict, txHash, amountBaseUnits: way.charge } : verdict;
      });
      expect(readHeader(await buy(headers), header)).toEqual(receiptOf(txHash));
      expect(made()).toMatchObject([{ verification: { isValid: true, txHash } }]);
      expect(relay().asked).toEqual([]);
    });

    it('buys one response, however often it is presented concurrently', async () => {
      const headers = withoutKey((await order()).headers);
      const responses = await Promise.all(Array.from({ length: 20 }, () => buy(headers)));
      const sold = responses.filter(({ status, headers: told }) => status === 200 && !told.has('idempotent-replayed'));
      expect(sold).toHaveLength(1);
      expect(responses.every(({ status }) => [200, 402, 409].includes(status))).toBe(true);
      expect([made().length, relay().asked.length]).toEqual([1, 1]);
    });

    it('costs nothing if the resource fails, and the same payment buys a response later', async () => {
      setFailing(true);
      const { headers } = await order();
      const failed = await buy(headers);
      expect([failed.status, failed.headers.get('x-payment-released')]).toEqual([500, 'true']);
      expect([failed.headers.get(header), relay().asked]).toEqual([null, []]);
      setFailing(false);
      expect((await buy(headers)).status).toBe(200);
      expect(new Set(made().map(({ idempotencyKey }) => idempotencyKey)).size).toBe(1);
    });

    it.each([
      ['is pending', 'settlement_pending', { outcome: 'pending', txHash: null }],
      ['cannot begin', 'verification_unavailable', { outcome: 'unavailable', reason: 'no_relayer' }],
    ] as const)(
      'is not asked to be paid for again while its settlement %s, and the same payment gets the response',
      async (_case, code, result) => {
        const { headers, nonce } = await order();
        relay().settlements.set(nonce, () => result);
        const response = await buy(headers);
        expect([response.status, response.headers.get('retry-after')]).toEqual([503, '1']);
        expect(await response.json()).toMatchObject({ code });
        relay().settlements.clear();
        const later = await buy(headers);
        expect([later.status, later.headers.get('x-payment-released')]).toEqual([200, null]);
        expect(new Set(made().map(({ idempotencyKey }) => idempotencyKey)).size).toBe(1);
      },
    );

    it('keeps its payment claimed as long as the settlement takes', async () => {
      const { headers, nonce } = await order();
      let settle = (): void => undefined;
      const asked = new Promise<void>((resolve) => {
        relay().settlements.set(nonce, async (request) => {
          resolve();
          await new Promise<void>((done) => (settle = done));
          return relay().settle(request);
        });
      });
      const first = buy(withoutKey(headers));
      await asked;
      expect((await buy(withoutKey(headers))).status).toBe(409);
      settle();
      expect((await first).status).toBe(200);
    });
  });
}
