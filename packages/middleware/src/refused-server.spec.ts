import { createWallet } from '../../client/src/account/create-wallet.js';
import { fetchWithPayment } from '../../client/src/fetch/fetch-with-payment.js';
import { MemoryPaymentStore } from '../../client/src/store/payment-store.js';
import { ASSET, PAY_TO } from '../test/create-payment.js';
import type { Shop } from '../test/serve-fetch.js';
import { isValid, startFacilitator, succeed, type ScriptedFacilitator } from '../test/start-facilitator.js';
import { SHOPS } from '../test/start-shops.js';
import { PaymentGate } from './gate/gate.js';
import type { FacilitatorError } from './verify/facilitator.js';

describe('the Tollgate client at a server that its facilitator refuses', () => {
  const troubles: Error[] = [];
  let facilitator: ScriptedFacilitator;
  let shop: Shop;

  beforeAll(async () => {
    facilitator = await startFacilitator();
    const gate = new PaymentGate({
      facilitator: { url: facilitator.url },
      payTo: PAY_TO,
      asset: { address: ASSET, name: 'USDC', version: '2', decimals: 6 },
      chainId: 1328,
      onTrouble: (error) => troubles.push(error),
    });
    shop = await SHOPS['express']!(gate, () => ({ body: 'the goods' }));
  });

  afterAll(async () => {
    await shop.stop();
    await facilitator.stop();
  });

  it.each(['verify', 'settle'] as const)(
    'signs once, and pays with that payment once the server is fixed: at /%s',
    async (step) => {
      const store = new MemoryPaymentStore();
      // Not asked again: the signed payment is left to the server to settle.
      const wallet = createWallet({ account: `0x${'1'.repeat(64)}`, rpcUrl: 'http://127.0.0.1:1', chainId: 1328 });
      const signed: string[] = [];
      const payingFetch = fetchWithPayment(fetch, wallet, {
        assets: [{ network: 'sei-testnet', chainId: 1328, address: ASSET, decimals: 6 }],
        maxAmount: '0.01',
        store,
        onEvent: ({ type, key }) => void (type === 'signed' && signed.push(key)),
      });
      facilitator.asked.length = 0;
      Object.assign(facilitator, { verify: isValid, settle: succeed, [step]: () => 401 });
      const refused = await payingFetch(`${shop.url}/goods`);
      expect([refused.status, refused.headers.get('x-payment-released')]).toEqual([500, 'true']);
      expect(await refused.json()).toEqual({
        error: 'facilitator_refused',
        detail:
          'The facilitator refused this server. Nothing was paid: the same payment stays valid until the server is fixed.',
      });
      // No useless repeat was sent.
      expect(facilitator.asked.filter(({ path }) => path === `/${step}`)).toHaveLength(1);
      expect((troubles.at(-1) as FacilitatorError).status).toBe(401);
      expect(troubles.at(-1)?.message).toMatch(
        /Nothing can be sold without an API key that the facilitator accepts: set facilitator\.apiKey\.$/,
      );

      Object.assign(facilitator, { [step]: step === 'verify' ? isValid : succeed });
      const paid = await payingFetch(`${shop.url}/goods`);
      expect([paid.status, await paid.text()]).toEqual([200, 'the goods']);
      expect(signed).toHaveLength(1);
      const payments = facilitator.asked.map(({ paymentPayload }) => JSON.stringify(paymentPayload));
      expect(new Set(payments).size).toBe(1);
    },
  );
});
