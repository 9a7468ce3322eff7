import type { DevnetAccount } from '../../tools/devnet/chain/chain.js';
import { readBalance } from '../../tools/devnet/chain/read-balance.js';
import { transferTokens } from '../../tools/devnet/chain/transfer-tokens.js';
import { outcomeOf } from '../harness/payments/pay.js';
import { retryUntilPaid, waitFor } from '../harness/retry.js';
import { expectPaidOnce, PRICE, useSignedSales } from '../harness/stack/use-signed-sales.js';

jest.setTimeout(120_000);

/** Deadlines long enough that nothing expires while the test holds it back. */
const PATIENT = {
  LEASE_MS: '60000',
  SETTLE_DEADLINE_MS: '20000',
  VERIFY_DEADLINE_MS: '20000',
  VERIFY_RETRY_MS: '10000',
};

describe('signed payments over one balance', () => {
  const sales = useSignedSales({ env: PATIENT });
  const account = (index: number) => sales().chain.accounts[index]!;

  /** Leaves the payer the price of this many payments. */
  async function leave({ address }: DevnetAccount, count: number): Promise<void> {
    const amountBaseUnits = (await readBalance(sales().chain, address)) - BigInt(PRICE) * BigInt(count);
    await transferTokens(sales().chain, { from: address, to: account(8).address, amountBaseUnits });
  }

  // Prevents: a payer that signs several payments over one balance causes the upstream's work each time, and is charged
  // once.
  it('reach the upstream only as far as the balance covers them', async () => {
    const payer = account(0);
    await leave(payer, 2);
    const orders = await Promise.all(Array.from({ length: 6 }, () => sales().order(payer)));
    const held: (() => void)[] = [];
    const { answer } = sales().upstream;
    sales().upstream.answer = (request, response) => void held.push(() => answer(request, response));
    const paid: typeof orders = [];
    const refused: unknown[] = [];
    const answers = orders.map(async (purchase) => {
      await waitFor('an answer that is final', async () => {
        const [status, failure] = await outcomeOf(purchase.send());
        // A busy machine did not get to the request in time.
        if (status === 409 || status === 503) return false;
        if (status === 200) paid.push(purchase);
        else refused.push([status, failure]);
        return true;
      });
    });
    await waitFor('what is refused at once', () => refused.length === 4);
    await waitFor('the upstream to be asked twice', () => held.length === 2);
    expect(refused).toEqual(Array(4).fill([402, 'balance_too_low']));
    sales().upstream.answer = answer;
    for (const letGo of held) letGo();
    await Promise.all(answers);
    expect(sales().upstream.requests).toHaveLength(2);
    await expectPaidOnce(
      sales(),
      paid.map(({ payment }) => payment),
    );
  });

  // Prevents: a payer is refused with `balance_too_low` for a payment whose amount has left its balance already.
  it('are accepted one after the other, to the last', async () => {
    const payer = account(1);
    await leave(payer, 5);
    const orders = await Promise.all(Array.from({ length: 5 }, () => sales().order(payer)));
    for (const purchase of orders) await retryUntilPaid(() => purchase.send());
    await expectPaidOnce(
      sales(),
      orders.map(({ payment }) => payment),
    );
    expect(await readBalance(sales().chain, payer.address)).toBe(0n);
  });
});
