import { randomUUID } from 'node:crypto';

import { startHttpTap, type HttpTap } from '../../../tools/devnet/interop/http-tap.js';
import { startServer, type ClientAnswer, type ServerName } from '../../../tools/devnet/interop/start-published.js';
import type { Program } from '../../../tools/devnet/processes/start-program.js';
import { nameRequest, TRIED_SALES, type Sale } from '../matrix.js';
import { PRICE, type Rig } from './start-rig.js';
import { useRig } from './use-rig.js';
import { watchMoney, type Watched } from './watch-money.js';

export interface Shops {
  rig: () => Rig;
  /** Between the middlewares and our gateway. */
  facilitator: () => HttpTap;
  /** In front of the middleware that sells. */
  tapOf: (sale: Sale) => HttpTap;
  /** Runs `work` with a function that buys once, and returns what it and the money did. */
  watch: <Result>(sale: Sale, work: (buy: () => Promise<ClientAnswer>) => Promise<Result>) => Promise<Watched<Result>>;
}

/**
 * A server of each middleware in TRIED_SALES for all tests of a file, with our gateway as its facilitator.
 * @param settleWaitMs after which a settlement is answered as pending, which some middlewares take for a failure
 */
export function useShops({ settleWaitMs }: { settleWaitMs: number }): Shops {
  const rig = useRig({
    env: { SETTLE_WAIT_MS: String(settleWaitMs), SETTLE_DEADLINE_MS: '40000', VERIFY_DEADLINE_MS: '30000' },
  });
  let facilitator: HttpTap;
  const shops = new Map<ServerName, { tap: HttpTap; server: Program }>();
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
  return { rig, facilitator: () => facilitator, tapOf, watch };
}
