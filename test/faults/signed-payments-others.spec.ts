import type { Hex } from '@tollgate/protocol';

import { createProof, outcomeOf } from '../harness/payments/pay.js';
import type { TokenTransferred } from '../harness/payments/read-transfers.js';
import { isInPool } from '../harness/payments/wait-for-pool.js';
import { retryUntilPaid, waitFor } from '../harness/retry.js';
import { expectPaidOnce, useSignedSales } from '../harness/stack/use-signed-sales.js';

jest.setTimeout(120_000);

const NOT_YET = [409, 503] as const;

describe('signed payments', () => {
  const sales = useSignedSales({ env: { SETTLE_DEADLINE_MS: '2000' } });

  afterEach(async () => {
    await sales().rpc('evm_setAutomine', [true]);
    await sales().rpc('evm_mine');
  });

  it('that were answered as pending cannot be redeemed by another client with their hash, and the payer gets the answer', async () => {
    await sales().rpc('evm_setAutomine', [false]);
    const purchase = await sales().order();
    expect((await purchase.send()).status).toBe(503);
    // A busy machine may not have got to the first request in time.
    await waitFor('its transaction in the pool', async () => {
      if (await isInPool(sales().chain.rpcUrl)) return true;
      expect(NOT_YET).toContain((await purchase.send()).status);
      return false;
    });
    await sales().rpc('evm_setAutomine', [true]);
    await sales().rpc('evm_mine');
    const seen: TokenTransferred[] = [];
    await waitFor('its block', async () => seen.push(...(await sales().readNewTransfers())) > 0);
    const { txHash } = seen[0]!;
    expect(await outcomeOf(showHash(txHash))).toEqual([402, 'payment_used']);
    expect(await outcomeOf(showHash(txHash, '/v1/quotes/B'))).toEqual([402, 'payment_used']);
    await retryUntilPaid(() => purchase.send(), NOT_YET);
    expect(await outcomeOf(showHash(txHash))).toEqual([402, 'payment_used']);
    await expectPaidOnce(sales(), []);
  });

  const showHash = (txHash: Hex, path = '/v1/quotes/A') =>
    fetch(sales().url(path), { headers: { 'X-Payment': createProof(txHash) } });
});
