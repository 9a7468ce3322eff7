import { planTransfer, splitSignature } from '@tollgate/chain';
import { numberToHex, parseGwei, type Hex } from 'viem';

import { readHeader } from '../../apps/gateway/test/present-payments.js';
import { cancelAuthorization } from '../../libs/verification/test/sign-authorization.js';
import type { DevnetAccount } from '../../tools/devnet/chain/chain.js';
import { readBalance } from '../../tools/devnet/chain/read-balance.js';
import { encodeTransfer, transferTokens } from '../../tools/devnet/chain/transfer-tokens.js';
import { MULTICALL3 } from '../../tools/devnet/protocols/place-contracts.js';
import { createProof, outcomeOf } from '../harness/payments/pay.js';
import type { TokenTransferred } from '../harness/payments/read-transfers.js';
import { retryUntilPaid, waitFor } from '../harness/retry.js';
import { expectPaidOnce, useSignedSales, type Purchase } from '../harness/stack/use-signed-sales.js';

jest.setTimeout(120_000);

const NOT_YET = [409, 503] as const;

/** Settlement under interference: payers that take their money back, and observers that are faster. */
describe('signed payments', () => {
  const sales = useSignedSales({ env: { SETTLE_DEADLINE_MS: '2000' } });
  const account = (index: number) => sales().chain.accounts[index]!;
  const observer = () => account(8).address;

  afterEach(async () => {
    await sales().rpc('evm_setAutomine', [true]);
    await sales().rpc('evm_mine');
  });

  const sendFirst = (from: Hex, data: Hex) =>
    sales().rpc('eth_sendTransaction', [
      {
        from,
        to: sales().chain.asset,
        data,
        gas: numberToHex(300_000),
        maxPriorityFeePerGas: numberToHex(parseGwei('90')),
        maxFeePerGas: numberToHex(parseGwei('100')),
      },
    ]) as Promise<Hex>;

  const preempt = ({ payment }: Purchase) => {
    if (payment.kind !== 'authorization') throw new Error('a permit is nothing that an observer can send');
    const places = { asset: sales().chain.asset, multicall3: MULTICALL3, isDeployed: true };
    return sendFirst(observer(), planTransfer(payment.authorization, splitSignature(payment.signature)!, places).data);
  };

  /** Moves all of an account's tokens to another account. */
  const encodeFlight = async ({ address }: DevnetAccount) => {
    const amountBaseUnits = await readBalance(sales().chain, address);
    return encodeTransfer(sales().chain, { amountBaseUnits, to: observer() });
  };

  const isInPool = async (count: number) => {
    const { pending } = (await sales().rpc('txpool_status')) as { pending: Hex };
    return Number(pending) >= count;
  };
  const waitForPool = (count: number) => waitFor(`${count} transactions in the pool`, () => isInPool(count));

  /**
   * The final outcome: repeats the request while it is pending, which on a busy machine lasts longer than a request
   * waits.
   */
  const untilDecided = async (purchase: Purchase): Promise<[number, string | null]> => {
    let outcome = await outcomeOf(purchase.send());
    await waitFor('an end of the settlement', async () => {
      if (!NOT_YET.some((status) => status === outcome[0])) return true;
      outcome = await outcomeOf(purchase.send());
      return false;
    });
    return outcome;
  };

  it('share a transaction with two that became invalid: those buy nothing, the others do', async () => {
    const payers = [0, 1, 2, 3, 4, 5].map(account);
    const orders = await Promise.all(payers.map((payer) => sales().order(payer)));
    const [broke, regretful] = [payers[2]!, payers[4]!];
    // All are verified; no payment is settled before the upstream has answered.
    const held: (() => void)[] = [];
    const { answer } = sales().upstream;
    sales().upstream.answer = (request, response) => void held.push(() => answer(request, response));
    const answers = orders.map((purchase) => untilDecided(purchase));
    await waitFor('the upstream to be asked six times', () => held.length === 6);
    await transferTokens(sales().chain, {
      from: broke.address,
      to: observer(),
      amountBaseUnits: await readBalance(sales().chain, broke.address),
    });
    await cancel(orders[4]!, regretful);
    sales().upstream.answer = answer;
    for (const letGo of held) letGo();
    expect(await Promise.all(answers)).toEqual([
      [200, null],
      [200, null],
      [402, 'balance_too_low'],
      [200, null],
      [402, 'authorization_cancelled'],
      [200, null],
    ]);
    await expectPaidOnce(
      sales(),
      [0, 1, 3, 5].map((index) => orders[index]!.payment),
    );
  });

  it('are settled in a transaction in which one of them fails, and that one buys nothing', async () => {
    const payers = [0, 1, 3, 5].map(account);
    await sales().rpc('evm_setAutomine', [false]);
    const orders = await Promise.all(payers.map((payer) => sales().order(payer)));
    const answers = orders.map((purchase) => untilDecided(purchase));
    await waitForPool(1);
    await sendFirst(payers[1]!.address, await encodeFlight(payers[1]!));
    await sales().rpc('evm_setAutomine', [true]);
    await sales().rpc('evm_mine');
    const paid = [200, null];
    expect(await Promise.all(answers)).toEqual([paid, [402, 'balance_too_low'], paid, paid]);
    await expectPaidOnce(
      sales(),
      [0, 2, 3].map((index) => orders[index]!.payment),
    );
  });

  it.each(['before the payer presents it', 'while our transaction waits for its block'])(
    'that a third party has mined %s buy the answer nevertheless, once',
    async (when) => {
      const purchase = await sales().order();
      const isLate = when !== 'before the payer presents it';
      await sales().rpc('evm_setAutomine', [false]);
      const early = isLate ? purchase.send() : null;
      if (isLate) await waitForPool(1);
      const txHash = await preempt(purchase);
      await sales().rpc('evm_setAutomine', [true]);
      await sales().rpc('evm_mine');
      if (early) expect([200, ...NOT_YET]).toContain((await early).status);
      await retryUntilPaid(() => purchase.send(), NOT_YET);
      const paid = await purchase.send();
      expect([paid.status, readHeader(paid, 'payment-response')]).toMatchObject([200, { transaction: txHash }]);
      expect(await outcomeOf(showHash(txHash))).toEqual([402, 'payment_used']);
      await expectPaidOnce(sales(), [purchase.payment]);
    },
  );

  it('that were answered as pending cannot be redeemed by another client with their hash, and the payer gets the answer', async () => {
    await sales().rpc('evm_setAutomine', [false]);
    const purchase = await sales().order();
    expect((await purchase.send()).status).toBe(503);
    // A busy machine may not have got to the first request in time.
    await waitFor('its transaction in the pool', async () => {
      if (await isInPool(1)) return true;
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

  const cancel = ({ payment }: Purchase, { privateKey }: DevnetAccount) => {
    if (payment.kind !== 'authorization') throw new Error('only an authorization is cancelled');
    const { chain } = sales();
    const domain = { name: 'USDC', version: '2', chainId: chain.chainId, verifyingContract: chain.asset };
    return cancelAuthorization(chain, payment.authorization, { domain, privateKey });
  };
});
