import { randomUUID } from 'node:crypto';

import { CLIENTS } from './matrix.js';
import { formFor, PRICE, type Rig } from './rig/start-rig.js';
import { watchMoney } from './rig/watch-money.js';

/** The extension `payment-identifier` of version 2, as `@x402/extensions` writes it. */
export function describeNamingPayments(rig: () => Rig): void {
  const clients = CLIENTS.filter(({ protocol }) => protocol === 'x402 2');
  describe.each(clients)('$packageName with @x402/extensions', (client) => {
    const nothing = { payer: 0n, payTo: 0n };

    it('is charged once for one payment-identifier, though it signs anew, and again for another', async () => {
      const tap = rig().taps[formFor(client)];
      const buy = async (paymentId: string) => {
        const { client: paying, payer } = await rig().client(client.name, { paymentId });
        return watchMoney(rig().chain, { payer: payer.address }, () => paying.fetch(`${tap.url}/quote`));
      };
      const [one, other] = [randomUUID(), randomUUID()];
      const first = await buy(one);
      expect([first.result.status, first.moved]).toEqual([200, { payer: -PRICE, payTo: PRICE }]);
      const again = await buy(one);
      expect([again.result.status, again.moved]).toEqual([409, nothing]);
      const next = await buy(other);
      expect([next.result.status, next.moved]).toEqual([200, { payer: -PRICE, payTo: PRICE }]);
    });

    it('gets the same answer again when it presents the same payment, and none on another route', async () => {
      const tap = rig().taps[formFor(client)];
      const { client: paying, payer } = await rig().client(client.name, { paymentId: randomUUID() });
      const { result, moved } = await watchMoney(rig().chain, { payer: payer.address }, async () => {
        const answer = await paying.fetch(`${tap.url}/quote`);
        const { request } = tap.exchanges.at(-1)!;
        const [again, elsewhere] = [await tap.send(request), await tap.send({ ...request, path: '/broken' })];
        return { answer, again, elsewhere };
      });
      expect(result.again).toMatchObject({ status: 200, body: result.answer.body });
      expect(result.again.headers).toHaveProperty('idempotent-replayed', 'true');
      expect(result.elsewhere).toMatchObject({ status: 402, headers: { 'x-payment-failure': 'unknown_reference' } });
      expect(moved).toEqual({ payer: -PRICE, payTo: PRICE });
    });
  });
}
