import type { Hex } from '@tollgate/protocol';

import type { ServiceProcess } from '../../tools/devnet/processes/service-process.js';
import { waitForPool } from '../harness/payments/wait-for-pool.js';
import { retryUntilPaid, waitFor } from '../harness/retry.js';
import { holdsRelayer } from '../harness/stack/holds-relayer.js';
import { expectPaidOnce, useSignedSales, type Purchase, type SignedSales } from '../harness/stack/use-signed-sales.js';

jest.setTimeout(180_000);

const NOT_YET = [409, 503] as const;

async function createOrders(sales: SignedSales, count: number): Promise<Purchase[]> {
  const { accounts } = sales.chain;
  return Promise.all(Array.from({ length: count }, (_, index) => sales.order(accounts[index % accounts.length])));
}

/** Presents all at once, each until it is answered; returns the bodies. */
async function buyAll(orders: readonly Purchase[]): Promise<string[]> {
  const answers = await Promise.all(orders.map((purchase) => retryUntilPaid(() => purchase.send(), NOT_YET)));
  return answers.map(({ body }) => body);
}

async function expectAllPaidOnce(sales: SignedSales, orders: readonly Purchase[]): Promise<void> {
  await expectPaidOnce(
    sales,
    orders.map(({ payment }) => payment),
  );
}

describe('two verifiers with one relayer', () => {
  const sales = useSignedSales({ verifiers: 2, env: { SETTLE_BATCH_SIZE: '4' } });

  /** The verifier that holds the relayer. */
  async function findHolder(): Promise<ServiceProcess> {
    let holder: ServiceProcess | undefined;
    await waitFor('a verifier to hold the relayer', async () => {
      for (const verifier of sales().stack.verifiers) {
        if (await holdsRelayer(verifier)) holder = verifier;
      }
      return holder !== undefined;
    });
    return holder!;
  }

  it('settle forty payments once each, without a nonce gap', async () => {
    const orders = await createOrders(sales(), 40);
    expect(new Set(await buyAll(orders)).size).toBe(40);
    await expectAllPaidOnce(sales(), orders);
  });

  it('hand over when one is killed among forty payments: the other continues with all', async () => {
    const holder = await findHolder();
    await sales().rpc('evm_setAutomine', [false]);
    const orders = await createOrders(sales(), 40);
    const bought = buyAll(orders);
    await waitForPool(sales().chain.rpcUrl);
    await holder.kill();
    await sales().rpc('evm_setAutomine', [true]);
    await sales().rpc('evm_mine');
    expect(new Set(await bought).size).toBe(40);
    await holder.restart();
    await expectAllPaidOnce(sales(), orders);
  });

  it('hand over when one sleeps past its lease, and nothing moves twice when it wakes', async () => {
    const sleeper = await findHolder();
    const orders = await createOrders(sales(), 20);
    const bought = buyAll(orders);
    sleeper.signal('SIGSTOP');
    // Every payer is answered while it sleeps.
    expect(new Set(await bought).size).toBe(20);
    sleeper.signal('SIGCONT');
    const more = await createOrders(sales(), 20);
    expect(new Set(await buyAll(more)).size).toBe(20);
    await expectAllPaidOnce(sales(), [...orders, ...more]);
  });
});

describe('two verifiers with two relayers', () => {
  const sales = useSignedSales({ verifiers: 2, relayers: 2, env: { SETTLE_BATCH_SIZE: '4' } });

  const readSenders = async (transfers: readonly { txHash: Hex }[]) => {
    const sent = await Promise.all(
      transfers.map(({ txHash }) => sales().rpc('eth_getTransactionByHash', [txHash]) as Promise<{ from: Hex }>),
    );
    return new Set(sent.map(({ from }) => from));
  };
  const relayers = () => sales().chain.relayers.map(({ address }) => address.toLowerCase());

  it('use both', async () => {
    const seen = new Set<Hex>();
    await waitFor('both to have settled something', async () => {
      const orders = await createOrders(sales(), 20);
      await buyAll(orders);
      for (const sender of await readSenders(await sales().readNewTransfers())) seen.add(sender);
      return seen.size === 2;
    });
    expect([...seen].sort()).toEqual(relayers().sort());
    await expectPaidOnce(sales(), []);
  });

  it('survive the death of one verifier: both relayers continue', async () => {
    const [killed] = sales().stack.verifiers;
    const orders = await createOrders(sales(), 40);
    const bought = buyAll(orders);
    await killed!.kill();
    expect(new Set(await bought).size).toBe(40);
    await expectAllPaidOnce(sales(), orders);
    await killed!.restart();
  });
});
