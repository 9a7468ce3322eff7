import { numberToHex, parseGwei, type Hex } from 'viem';

import { retryUntilPaid, waitFor } from '../harness/retry.js';
import { expectPaidOnce, useSignedSales, type Purchase } from '../harness/stack/use-signed-sales.js';

jest.setTimeout(120_000);

const MAX_FEE_GWEI = '3';
const FEES = { RELAYER_MAX_FEE_GWEI: MAX_FEE_GWEI, RELAYER_MAX_PRIORITY_FEE_GWEI: '1' };
const NOT_YET = [409, 503] as const;

/** A condition that stops a relayer costs no payer anything, is reported to the operator, and ends with its cause. */
describe('a relayer', () => {
  const sales = useSignedSales({ env: { SETTLE_DEADLINE_MS: '1500', ...FEES } });
  const relayer = () => sales().chain.relayers[0]!.address;
  const verifier = () => sales().stack.verifiers[0]!;

  async function expectNotYet(purchase: Purchase): Promise<void> {
    const response = await purchase.send();
    expect(NOT_YET).toContain(response.status);
    expect(response.headers.has('retry-after')).toBe(true);
    expect(response.headers.has('payment-required')).toBe(false);
  }

  async function expectAnswer(...purchases: Purchase[]): Promise<void> {
    for (const purchase of purchases) await retryUntilPaid(() => purchase.send(), NOT_YET);
    await expectPaidOnce(
      sales(),
      purchases.map(({ payment }) => payment),
    );
  }

  it('waits while gas costs more than it may offer, offers no more, and settles when gas is cheaper', async () => {
    const setBaseFee = async (gwei: string) => {
      await sales().rpc('anvil_setNextBlockBaseFeePerGas', [numberToHex(parseGwei(gwei))]);
      await sales().rpc('evm_mine');
    };
    await setBaseFee('20');
    const purchase = await sales().order();
    await expectNotYet(purchase);
    await expectNotYet(purchase);
    expect(await sales().readNewTransfers()).toEqual([]);
    await setBaseFee('1');
    await retryUntilPaid(() => purchase.send(), NOT_YET);
    const [transfer] = await sales().readNewTransfers();
    const mined = (await sales().rpc('eth_getTransactionByHash', [transfer!.txHash])) as { maxFeePerGas: Hex };
    expect(BigInt(mined.maxFeePerGas)).toBeLessThanOrEqual(parseGwei(MAX_FEE_GWEI));
    await expectPaidOnce(sales(), []);
  });

  it('that is empty reports it, keeps payers waiting, and continues when it is refilled', async () => {
    const before = (await sales().rpc('eth_getBalance', [relayer(), 'latest'])) as Hex;
    await sales().rpc('anvil_setBalance', [relayer(), '0x0']);
    const [first, second] = [await sales().order(), await sales().order()];
    await expectNotYet(first);
    await expectNotYet(second);
    await expectNotYet(first);
    await waitFor('a word to the operator', () => /"a relayer waits".*native coin/.test(verifier().logs()));
    const metrics = await (await fetch(`${verifier().url}/metrics`)).text();
    expect(metrics).toMatch(new RegExp(`tollgate_relayer_troubles_total\\{.*${relayer().toLowerCase()}.*\\} [1-9]`));
    await sales().rpc('anvil_setBalance', [relayer(), before]);
    await expectAnswer(first, second);
  });

  it('that was killed while it was empty continues when it is refilled', async () => {
    const before = (await sales().rpc('eth_getBalance', [relayer(), 'latest'])) as Hex;
    await sales().rpc('anvil_setBalance', [relayer(), '0x0']);
    const purchase = await sales().order();
    await expectNotYet(purchase);
    await verifier().kill();
    await verifier().restart();
    await expectNotYet(purchase);
    await sales().rpc('anvil_setBalance', [relayer(), before]);
    await expectAnswer(purchase);
  });
});
