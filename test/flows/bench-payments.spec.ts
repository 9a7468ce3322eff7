import { signOwnPayments } from '../../bench/sign-own-payments.js';
import { useSignedSales } from '../harness/stack/use-signed-sales.js';

jest.setTimeout(180_000);

describe('a payment of the benchmark without the published packages', () => {
  // Each payment is expected to buy at once, on a busy machine too.
  const patience = { VERIFY_DEADLINE_MS: '60000', SETTLE_DEADLINE_MS: '60000', RPC_TIMEOUT_MS: '30000' };
  const sales = useSignedSales({ env: patience });

  // Regression: `npm run bench -- --no-peers` installed the packages all the same, to sign with them.
  it('is accepted by the gate, each payment once', async () => {
    const url = sales().url('/api/weather');
    const payments = await signOwnPayments(sales().chain, { url, count: 3 });
    for (const payment of payments) {
      const response = await fetch(url, { headers: { 'PAYMENT-SIGNATURE': payment } });
      expect([response.status, await response.text()]).toEqual([200, expect.stringContaining('temperature')]);
    }
    const nonces = (await sales().readNewTransfers()).map(({ nonce }) => nonce);
    expect(new Set(nonces).size).toBe(3);
  });
});
