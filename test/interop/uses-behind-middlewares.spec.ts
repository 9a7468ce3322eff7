import { canBePreempted, TRIED_SALES, USES } from './matrix.js';
import { COSTS } from './rig/start-rig.js';
import { preempt, sendTogether } from './rig/use-payments.js';
import { useShops } from './rig/use-shops.js';

describe('with our facilitator', () => {
  const { rig, facilitator, tapOf, watch } = useShops({ settleWaitMs: 30_000 });

  describe.each(TRIED_SALES)('$server.packageName sells its $product for what $client.packageName signed', (sale) => {
    const cost = COSTS[sale.product];

    it(`though it is ${USES.together}`, async () => {
      const answers = sendTogether(tapOf(sale), sale.client, 20);
      const { moved } = await watch(sale, (buy) => buy());
      const served = answers.filter(({ status }) => status === 200);
      expect(served.filter(({ headers }) => headers['idempotent-replayed'] === undefined)).toHaveLength(1);
      expect(new Set(served.map(({ body }) => body)).size).toBe(1);
      expect(answers.filter(({ status }) => ![200, 402, 409].includes(status))).toEqual([]);
      expect(moved).toEqual({ payer: -cost, payTo: cost });
    });

    it(`when it is ${USES.many}`, async () => {
      const firstIs = facilitator().exchanges.length;
      const { result, moved } = await watch(sale, (buy) => Promise.all(Array.from({ length: 40 }, buy)));
      const answers = facilitator()
        .exchanges.slice(firstIs)
        .map(({ answer }) => answer);
      const refused = answers.filter(({ status, body }) => status !== 200 || /"(isValid|success)":false/.test(body));
      expect(refused.map(({ body }) => body)).toEqual([]);
      expect(result.map(({ status }) => status)).toEqual(result.map(() => 200));
      expect(moved).toEqual({ payer: -40n * cost, payTo: 40n * cost });
    });

    if (!canBePreempted(sale)) return;
    it(`though it is ${USES.preempted}`, async () => {
      const hashes = preempt(rig(), tapOf(sale), sale.client);
      const { result, moved } = await watch(sale, (buy) => buy());
      expect([result.status, result.receipt?.['transaction']]).toEqual([200, ...hashes]);
      expect(moved).toEqual({ payer: -cost, payTo: cost });
    });
  });
});
