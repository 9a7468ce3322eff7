import { randomUUID } from 'node:crypto';

import { startHttpTap, type HttpTap } from '../../devnet/interop/http-tap.js';
import type { ClientAnswer } from '../../devnet/interop/start-client.js';
import { startServer, type RunningServer, type ServerName } from '../../devnet/interop/start-server.js';
import {
  canBePreempted,
  comesThrough,
  FAULTS,
  nameRequest,
  TRIED_SALES,
  USES,
  type Fault,
  type Sale,
} from './matrix.js';
import { TROUBLE } from './rig/cause-trouble.js';
import { COSTS, PRICE } from './rig/start-rig.js';
import { preempt, sendTogether } from './rig/use-payments.js';
import { useRig } from './rig/use-rig.js';
import { watchMoney } from './rig/watch-money.js';

/** The published middlewares store nothing: they survive a fault only as far as their facilitator does. */
describe('with our facilitator', () => {
  const rig = useRig({ env: { SETTLE_WAIT_MS: '6000', SETTLE_DEADLINE_MS: '40000', VERIFY_DEADLINE_MS: '30000' } });
  let facilitator: HttpTap;
  const shops = new Map<ServerName, { tap: HttpTap; server: RunningServer }>();
  beforeAll(async () => {
    facilitator = await startHttpTap(rig().stack.baseUrl);
    for (const name of new Set(TRIED_SALES.map(({ server }) => server.name))) {
      const { chain, seller: payTo, facilitatorHeaders } = rig();
      const settling = { payTo, facilitatorHeaders, facilitatorUrl: `${facilitator.url}/facilitator` };
      const server = await startServer(name, chain, { ...settling, priceBaseUnits: PRICE });
      shops.set(name, { server, tap: await startHttpTap(server.url) });
    }
  }, 120_000);
  afterEach(() => {
    rig().rpc.reset();
    for (const { tap } of shops.values()) tap.interfere();
  });
  afterAll(async () => {
    for (const { server, tap } of shops.values()) {
      await tap.stop();
      await server.stop();
    }
    await facilitator?.stop();
  });

  const tapOf = ({ server }: Sale): HttpTap => shops.get(server.name)!.tap;
  async function watch<Result>(sale: Sale, work: (buy: () => Promise<ClientAnswer>) => Promise<Result>) {
    const { client, payer } = await rig().client(sale.client.name, { product: sale.product, retries: true });
    const url = `${tapOf(sale).url}${sale.server.prefix}/${sale.product}`;
    return watchMoney(rig().chain, { payer: payer.address, payTo: rig().seller }, () =>
      work(() => client.fetch(url, nameRequest(sale.client, randomUUID()))),
    );
  }

  describe.each(TRIED_SALES)(
    '$server.packageName charges $client.packageName for its $product once, and answers it',
    (sale) => {
      const cost = COSTS[sale.product];

      it.each(Object.keys(FAULTS) as Fault[])('%s, or why not', async (fault) => {
        const firstIs = facilitator.exchanges.length;
        const isToldToWait = () =>
          facilitator.exchanges.slice(firstIs).some(({ answer }) => answer.body.includes('settlement_pending'));
        const place = { rig: rig(), tap: tapOf(sale), isToldToWait };
        const { result, moved } = await watch(sale, (buy) => TROUBLE[fault](place, buy));
        const cell = comesThrough(sale.server, fault);
        expect(JSON.stringify(result)).toMatch(cell === 'works' ? /^{"status":200/ : cell.says);
        expect(moved).toEqual({ payer: -cost, payTo: cost });
      });
    },
  );

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
      const firstIs = facilitator.exchanges.length;
      const { result, moved } = await watch(sale, (buy) => Promise.all(Array.from({ length: 40 }, buy)));
      const answers = facilitator.exchanges.slice(firstIs).map(({ answer }) => answer);
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
