import { comesThrough, FAULTS, TRIED_SALES, type Fault } from './matrix.js';
import { TROUBLE } from './rig/cause-trouble.js';
import { COSTS } from './rig/start-rig.js';
import { useShops } from './rig/use-shops.js';

/** The published middlewares store nothing: they survive a fault only as far as their facilitator does. */
describe('with our facilitator', () => {
  const { rig, facilitator, tapOf, watch } = useShops({ settleWaitMs: 6_000 });

  describe.each(TRIED_SALES)(
    '$server.packageName charges $client.packageName for its $product once, and answers it',
    (sale) => {
      const cost = COSTS[sale.product];

      it.each(Object.keys(FAULTS) as Fault[])('%s, or why not', async (fault) => {
        const firstIs = facilitator().exchanges.length;
        const isToldToWait = () =>
          facilitator()
            .exchanges.slice(firstIs)
            .some(({ answer }) => answer.body.includes('settlement_pending'));
        const place = { rig: rig(), tap: tapOf(sale), isToldToWait };
        const { result, moved } = await watch(sale, (buy) => TROUBLE[fault](place, buy));
        const cell = comesThrough(sale.server, fault);
        expect(JSON.stringify(result)).toMatch(cell === 'works' ? /^{"status":200/ : cell.says);
        expect(moved).toEqual({ payer: -cost, payTo: cost });
      });
    },
  );
});
