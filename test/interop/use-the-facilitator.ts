import type { ServerName } from '../../tools/devnet/interop/start-published.js';
import { CLIENTS, paysServer, SERVERS, type Client } from './matrix.js';
import { PRICE, type Rig } from './rig/start-rig.js';
import { watchMoney } from './rig/watch-money.js';

/** Every published middleware with our gateway as its facilitator, paid by every published client that can pay it. */
export function describeUsingTheFacilitator(rig: () => Rig): void {
  // They take some seconds to start, which must not count for a test.
  beforeAll(async () => {
    for (const { name } of SERVERS) await rig().server(name);
  }, 120_000);

  describe.each(SERVERS)('$packageName with our facilitator', (server) => {
    it.each(CLIENTS)('is paid by $packageName, or why not', async (client) => {
      const cell = paysServer(client, server);
      const buying = buy(client, `${server.prefix}/quote`, server.name);
      if (cell !== 'works') {
        const { result, moved } = await buying;
        expect(result).toEqual({ gaveUp: expect.stringMatching(cell.says) as string });
        expect(moved).toEqual({ payer: 0n, payTo: 0n });
        return;
      }
      const { result, moved } = await buying;
      expect(result).toMatchObject({
        status: 200,
        body: JSON.stringify({ symbol: 'SEI', server: server.packageName }),
      });
      expect(moved).toEqual({ payer: -PRICE, payTo: PRICE });
    });

    const payers = CLIENTS.filter((client) => paysServer(client, server) === 'works');
    it.each(payers)('charges $packageName nothing when its handler fails', async (client) => {
      const { result, moved } = await buy(client, `${server.prefix}/broken`, server.name);
      expect(result).toMatchObject({ status: 500 });
      expect(moved).toEqual({ payer: 0n, payTo: 0n });
    });
  });

  async function buy({ name }: Client, path: string, server: ServerName) {
    const { client, payer } = await rig().client(name);
    const url = (await rig().server(server)).url + path;
    return watchMoney(rig().chain, { payer: payer.address, payTo: rig().seller }, () =>
      client.fetch(url).catch((error: Error) => ({ gaveUp: error.message })),
    );
  }
}
