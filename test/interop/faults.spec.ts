import { randomUUID } from 'node:crypto';

import { FAULTS, GATEWAY_WAYS, nameRequest, type Fault } from './matrix.js';
import { awaitOffer } from './rig/await-offer.js';
import { TROUBLE } from './rig/cause-trouble.js';
import { COSTS, formFor } from './rig/start-rig.js';
import { useRig } from './rig/use-rig.js';
import { watchMoney } from './rig/watch-money.js';

/** A gateway that soon asks a payer to repeat its request, and clients that do so. */
describe('the gateway', () => {
  const rig = useRig({ env: { SETTLE_WAIT_MS: '1000', SETTLE_DEADLINE_MS: '1000' } });
  afterEach(() => {
    rig().rpc.reset();
    for (const tap of Object.values(rig().taps)) tap.interfere();
  });

  describe.each(GATEWAY_WAYS)(
    'charges $client.packageName for its $product once, and answers it',
    ({ client, product }) => {
      it.each(Object.keys(FAULTS) as Fault[])('%s', async (fault) => {
        const tap = rig().taps[formFor(client)];
        const { client: paying, payer } = await rig().client(client.name, { product, retries: true });
        await awaitOffer(`${tap.url}/${product}`, product);
        const firstIs = tap.exchanges.length;
        const statuses = () => tap.exchanges.slice(firstIs).map(({ answer }) => answer.status);
        const place = { rig: rig(), tap, isToldToWait: () => statuses().includes(503) };
        const { result, moved } = await watchMoney(rig().chain, { payer: payer.address }, () =>
          TROUBLE[fault](place, () => paying.fetch(`${tap.url}/${product}`, nameRequest(client, randomUUID()))),
        );
        expect({ result, statuses: statuses() }).toMatchObject({ result: { status: 200 } });
        expect(JSON.parse(result.body)).toMatchObject({ symbol: 'SEI' });
        expect(moved).toEqual({ payer: -COSTS[product], payTo: COSTS[product] });
        // Only one challenge: repeats present the same payment, and no new one.
        expect(statuses().filter((status) => status === 402)).toHaveLength(1);
      });
    },
  );
});
