import { CLIENTS, paysByScheme, SCHEME_SERVERS, SCHEMES, type Cell, type Client, type SchemeName } from './matrix.js';
import { COSTS, METERED, type Rig } from './rig/start-rig.js';
import { watchMoney } from './rig/watch-money.js';

/** The schemes of version 2 that pay by Permit2, through published middlewares and at the gateway. */
export function describePayingByScheme(rig: () => Rig): void {
  async function buy(client: Client, schemeName: SchemeName, url: string, payTo = rig().chain.payTo) {
    const { client: paying, payer } = await rig().client(client.name, { product: schemeName });
    return watchMoney(rig().chain, { payer: payer.address, payTo }, () => paying.fetch(url));
  }

  const clients = CLIENTS.filter((client) => paysByScheme(client) === 'works');
  describe.each(clients)('$packageName', (client) => {
    describe.each(Object.keys(SCHEMES) as SchemeName[])('by scheme %s', (schemeName) => {
      const cost = COSTS[schemeName];

      it.each(SCHEME_SERVERS)('pays $packageName with our facilitator the amount used', async (server) => {
        const url = `${(await rig().server(server.name)).url}${server.prefix}/${schemeName}`;
        const { result, moved } = await buy(client, schemeName, url, rig().seller);
        expect(result).toMatchObject({ status: 200, receipt: { success: true } });
        expect(moved).toEqual({ payer: -cost, payTo: cost });
      });

      it.each(SCHEME_SERVERS)('is charged nothing by $packageName when its handler fails', async (server) => {
        const url = `${(await rig().server(server.name)).url}${server.prefix}/${schemeName}?fails`;
        const { result, moved } = await buy(client, schemeName, url, rig().seller);
        expect(result).toMatchObject({ status: 500 });
        expect(moved).toEqual({ payer: 0n, payTo: 0n });
      });
    });

    it('is charged nothing by the gateway when its upstream fails', async () => {
      const { result, moved } = await buy(client, 'metered', `${rig().taps.documented.url}/metered?fails`);
      expect(result).toMatchObject({ status: 500 });
      expect(moved).toEqual({ payer: 0n, payTo: 0n });
    });

    it('pays the gateway for a metered route the amount used', async () => {
      const { result, moved } = await buy(client, 'metered', `${rig().taps.documented.url}/metered`);
      expect(result).toMatchObject({ status: 200, receipt: { success: true, amount: String(METERED) } });
      expect(moved).toEqual({ payer: -METERED, payTo: METERED });
    });
  });

  const others = CLIENTS.map((client) => ({ ...client, cell: paysByScheme(client) })).filter(isUnable);
  describe.each(others)('$packageName', ({ name, cell }) => {
    it.each(Object.keys(SCHEMES) as SchemeName[])(
      `does not pay by scheme %s: it ${cell.cannot}`,
      async (schemeName) => {
        const { client, payer } = await rig().client(name);
        const url = `${(await rig().server('x402-express-v2')).url}/${schemeName}`;
        const { moved } = await watchMoney(rig().chain, { payer: payer.address, payTo: rig().seller }, async () => {
          await expect(client.fetch(url)).rejects.toThrow(cell.says);
        });
        expect(moved).toEqual({ payer: 0n, payTo: 0n });
      },
    );
  });
}

type Unable = Client & { cell: Exclude<Cell, 'works'> };

function isUnable(client: Client & { cell: Cell }): client is Unable {
  return client.cell !== 'works';
}
