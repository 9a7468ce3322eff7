import type { SettleResponse } from '@tollgate/protocol';

import { postSettlement } from '../harness/payments/post-settlement.js';
import { waitForPool } from '../harness/payments/wait-for-pool.js';
import { retryUntilPaid, waitFor } from '../harness/retry.js';
import { holdsRelayer } from '../harness/stack/holds-relayer.js';
import { expectPaidOnce, useSignedSales, type Purchase } from '../harness/stack/use-signed-sales.js';

jest.setTimeout(120_000);

/** A sent transaction may be mined at any time. Until its end is known, no payer is asked to pay or gets the answer. */
describe('while the chain makes no blocks', () => {
  const sales = useSignedSales({
    gateways: 2,
    env: { SETTLE_DEADLINE_MS: '4000', FACILITATOR: 'true', FACILITATOR_RATE_LIMIT_PER_MINUTE: '0' },
  });

  /** Kills the verifier, and waits until the next one works on the relayer. */
  async function replaceVerifier(): Promise<void> {
    const [verifier] = sales().stack.verifiers;
    await verifier!.kill();
    await verifier!.restart();
    await waitFor('the relayer is held', () => holdsRelayer(verifier!));
  }

  beforeEach(() => sales().rpc('evm_setAutomine', [false]));
  afterEach(resume);

  async function resume(): Promise<void> {
    await sales().rpc('evm_setAutomine', [true]);
    await sales().rpc('evm_mine');
  }

  const settle = (purchase: Purchase, gateway = 0) =>
    postSettlement(sales().stack.gateways[gateway]!.url, sales().chain, purchase.payment);

  /** Until the answer is "pending" it may be "unavailable": a busy machine did not get to the request in time. */
  async function expectPending(purchase: Purchase, gateway = 0): Promise<void> {
    await waitFor('"pending"', async () => {
      const response = await purchase.send(gateway);
      const { code } = (await response.json()) as { code?: string };
      expect([response.status, response.headers.get('retry-after')]).toEqual([503, '1']);
      expect(response.headers.has('payment-required')).toBe(false);
      expect(['settlement_pending', 'verification_unavailable']).toContain(code);
      return code === 'settlement_pending';
    });
  }

  it('a payer gets "pending" at every gateway, also when the verifier dies meanwhile, and the answer afterwards', async () => {
    const purchase = await sales().order();
    for (const gateway of [0, 1]) await expectPending(purchase, gateway);
    await replaceVerifier();
    await expectPending(purchase);
    await resume();
    await retryUntilPaid(() => purchase.send(1), [409, 503]);
    await expectPaidOnce(sales(), [purchase.payment]);
  });

  it('a facilitator reports the hash, the same after its verifier died, and the success once', async () => {
    const purchase = await sales().order();
    let pending = await settle(purchase);
    await waitFor('the hash', async () => {
      expect(pending).toMatchObject({ success: false, errorReason: 'settlement_pending' });
      if (pending.transaction === '') pending = await settle(purchase);
      return pending.transaction !== '';
    });
    expect(pending.transaction).toMatch(/^0x[0-9a-f]{64}$/);
    await replaceVerifier();
    expect(await settle(purchase, 1)).toMatchObject({ success: false, errorReason: 'settlement_pending' });
    await resume();
    const answers: SettleResponse[] = [];
    await waitFor('the success', async () => {
      answers.push(await settle(purchase, answers.length % 2));
      return answers.at(-1)!.errorReason !== 'settlement_pending';
    });
    expect(answers.at(-1)).toMatchObject({ success: true, transaction: pending.transaction });
    for (const gateway of [0, 1]) {
      expect(await settle(purchase, gateway)).toMatchObject({ errorReason: 'duplicate_settlement' });
    }
    await expectPaidOnce(sales(), [purchase.payment]);
  });

  it.each([1, 2])(
    'of a facilitator and a paywall that get the same payment, exactly one uses it (try %s)',
    async (turn) => {
      const purchase = await sales().order();
      // Each request is repeated until its answer is no longer "pending".
      const untilSettled = async (): Promise<boolean> => {
        const { success, errorReason } = await settle(purchase, turn % 2);
        return errorReason === 'settlement_pending' ? untilSettled() : success;
      };
      const untilBought = async (): Promise<number> => {
        const { status } = await purchase.send((turn + 1) % 2);
        return status === 503 ? untilBought() : status;
      };
      const asked = Promise.all([untilSettled(), untilBought()]);
      await waitForPool(sales().chain.rpcUrl);
      await resume();
      const [settled, status] = await asked;
      expect([settled, status === 200]).toContain(true);
      expect([settled, status]).not.toEqual([true, 200]);
      // The one that lost must not get it later either.
      const [again, lost] = [await settle(purchase), (await purchase.send()).status];
      expect(again).toMatchObject({ success: false, errorReason: 'duplicate_settlement' });
      expect(lost).toBe(settled ? 409 : 200);
      await expectPaidOnce(sales(), [purchase.payment]);
    },
  );
});
