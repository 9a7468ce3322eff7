import { randomUUID } from 'node:crypto';

import { PAY_TO, ASSET, VERSIONS } from '../test/create-payment.js';
import { listen, serveFetch, type Shop } from '../test/serve-fetch.js';
import { fail, startFacilitator, succeed, type ScriptedFacilitator } from '../test/start-facilitator.js';
import { PaymentGate } from './gate/gate.js';
import { paid } from './next.js';
import { MemoryStore } from './stores/payment-store.js';

const OTHER_RECIPIENT = `0x${'22'.repeat(20)}` as const;

describe('a payment whose settlement has an unknown result when the terms change', () => {
  let facilitator: ScriptedFacilitator;
  const shops: Shop[] = [];
  const store = new MemoryStore();
  const troubles: string[] = [];

  beforeAll(async () => {
    facilitator = await startFacilitator();
    facilitator.knowsKeys = true;
  });

  beforeEach(() => {
    facilitator.asked.length = 0;
    troubles.length = 0;
  });

  afterEach(async () => {
    for (const shop of shops.splice(0)) await shop.stop();
  });

  afterAll(() => facilitator.stop());

  const open = async (price: string, payTo: typeof OTHER_RECIPIENT | typeof PAY_TO): Promise<Shop> => {
    const gate = new PaymentGate({
      payTo,
      asset: { address: ASSET, name: 'USDC', version: '2', decimals: 6 },
      chainId: 1328,
      store,
      facilitator: { url: facilitator.url },
      publicUrl: 'https://shop.example',
      onTrouble: ({ message }) => troubles.push(message),
    });
    const shop = await listen(serveFetch(paid(gate, { price }, async () => new Response('the goods'))));
    shops.push(shop);
    return shop;
  };

  // Prevents: the facilitator refuses the new terms, which says nothing of the settlement that was requested with the old ones.
  it.each([
    [1, 'the price', '0.0005', PAY_TO],
    [2, 'the price', '0.0005', PAY_TO],
    [1, 'the recipient', '0.001', OTHER_RECIPIENT],
    [2, 'the recipient', '0.001', OTHER_RECIPIENT],
  ] as const)(
    'is settled with the terms of the first question (x402 version %s, %s)',
    async (version, _, price, payTo) => {
      const [before, after] = [await open('0.001', PAY_TO), await open(price, payTo)];
      const headers = { ...VERSIONS[version].pay(), 'Idempotency-Key': randomUUID() };
      facilitator.settle = () => 'hang up';
      expect((await fetch(`${before.url}/goods`, { headers })).status).toBe(503);
      facilitator.settle = (question) => {
        const requirements = question.paymentRequirements;
        const amount = 'amount' in requirements ? requirements.amount : requirements.maxAmountRequired;
        const isSame = amount === '1000' && requirements.payTo === PAY_TO;
        return isSame ? succeed(question) : fail('invalid_exact_evm_payload_authorization_value_mismatch')(question);
      };
      const response = await fetch(`${after.url}/goods`, { headers });
      expect([response.status, await response.text()]).toEqual([200, 'the goods']);
      expect(new Set(facilitator.asked.flatMap(({ headers: sent }) => sent['idempotency-key'] ?? [])).size).toBe(1);
    },
  );
});
