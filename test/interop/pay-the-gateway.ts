import { callRpc } from '../../tools/devnet/processes/json-rpc.js';
import { CLIENTS, isOurs, type ChallengeForm, type Client } from './matrix.js';
import { PRICE, type Rig } from './rig/start-rig.js';
import { watchMoney } from './rig/watch-money.js';

const FORMS: readonly ChallengeForm[] = ['documented', 'v1-clients'];

/** Every client against every form of our challenge. */
export function describePayingTheGateway(rig: () => Rig): void {
  describe.each(CLIENTS)('$packageName', (client) => {
    describe.each(FORMS)('pays the gateway that challenges in the form %s', (form) => {
      const cell = client.gateway[form];
      if (cell !== 'works') {
        it(`not: it ${cell.cannot}`, async () => {
          const buying = buy(client, form, '/quote');
          await expect(buying).rejects.toThrow(cell.says);
        });
        return;
      }

      it('once, and gets the answer and a receipt of its settlement', async () => {
        const { result, moved } = await buy(client, form, '/quote');
        expect(result).toMatchObject({ status: 200 });
        expect(JSON.parse(result.body)).toMatchObject({ symbol: 'SEI' });
        expect(moved).toEqual({ payer: -PRICE, payTo: PRICE });
        const paid = rig().taps[form].exchanges.at(-1);
        expect(paid?.request.headers).toHaveProperty(client.paysIn);
        if (isOurs(client)) return;
        const hash = result.receipt?.['transaction'] ?? result.receipt?.['reference'];
        expect(await callRpc(rig().chain.rpcUrl, 'eth_getTransactionReceipt', [hash])).toMatchObject({
          status: '0x1',
        });
      });

      // A client that pays by its own transfer has paid before the request: its payment stays valid for a later one.
      if (isOurs(client)) return;
      it('not for an answer that the upstream failed to give', async () => {
        const { result, moved } = await buy(client, form, '/broken');
        expect(result.status).toBe(500);
        expect(moved).toEqual({ payer: 0n, payTo: 0n });
        expect(rig().taps[form].exchanges.at(-1)?.request.headers).toHaveProperty(client.paysIn);
      });
    });
  });

  async function buy({ name }: Client, form: ChallengeForm, path: string) {
    const { client, payer } = await rig().client(name);
    return watchMoney(rig().chain, { payer: payer.address }, () => client.fetch(rig().taps[form].url + path));
  }
}
