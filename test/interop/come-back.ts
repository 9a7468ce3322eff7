import { CLIENTS, COMING_BACK, type Client } from './matrix.js';
import { PRICE, type Rig } from './rig/start-rig.js';
import { watchMoney } from './rig/watch-money.js';

const clients = COMING_BACK.flatMap(({ packageName, cell }) =>
  CLIENTS.filter((client) => client.packageName === packageName).map((client) => ({ ...client, cell })),
);

/** The extension `sign-in-with-x` of version 2, as `@x402/extensions` signs it. */
export function describeComingBack(rig: () => Rig): void {
  const paid = { payer: -PRICE, payTo: PRICE };
  const nothing = { payer: 0n, payTo: 0n };
  async function visitTwice({ name }: Client) {
    const { client, payer } = await rig().client(name, { signsIn: true });
    const visit = () =>
      watchMoney(rig().chain, { payer: payer.address }, () => client.fetch(`${rig().taps.documented.url}/revisited`));
    const visits = [await visit(), await visit()];
    expect(visits.map(({ result }) => result.status)).toEqual([200, 200]);
    return visits.map(({ moved }) => moved);
  }

  describe.each(clients)('$packageName with @x402/extensions', ({ cell, ...client }) => {
    if (cell !== 'works') {
      it(`does not come back for a signature: it ${cell.cannot}`, async () => {
        expect(await visitTwice(client)).toEqual([paid, paid]);
        const { headers } = rig().taps.documented.exchanges.at(-1)!.request;
        expect(Object.keys(headers)).toContainEqual(expect.stringMatching(cell.says));
      });
      return;
    }

    it('pays once, and revisits by a signature that is valid for one visit', async () => {
      const tap = rig().taps.documented;
      expect(await visitTwice(client)).toEqual([paid, nothing]);
      const { request } = tap.exchanges.at(-1)!;
      expect(request.headers).toHaveProperty('sign-in-with-x');
      expect((await tap.send(request)).status).toBe(402);
    });
  });
}
