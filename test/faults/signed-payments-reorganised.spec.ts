import { planTransfer, splitSignature } from '@tollgate/chain';
import { createLaneId, type JobRecord } from '@tollgate/journal';
import { numberToHex, parseGwei, type Hex } from 'viem';

import { readHeader } from '../../apps/gateway/test/present-payments.js';
import { readBalance } from '../../tools/devnet/chain/read-balance.js';
import { approvePermit2, signPermit } from '../../tools/devnet/chain/sign-permit.js';
import { encodeTransfer } from '../../tools/devnet/chain/transfer-tokens.js';
import { MULTICALL3 } from '../../tools/devnet/protocols/place-contracts.js';
import { retryUntilPaid, waitFor } from '../harness/retry.js';
import { waitForDeath } from '../harness/stack/use-agents.js';
import { expectPaidOnce, PRICE, useSignedSales, type Purchase } from '../harness/stack/use-signed-sales.js';

jest.setTimeout(180_000);

const CONFIRMATIONS = 3;
/** Until the end of its payment is known, a payer gets "pending", and never a request to pay again. */
const NOT_YET = [409, 503] as const;

/** A block with a settlement is replaced before it is CONFIRMATIONS blocks deep. */
describe('when a reorganisation removes the block of a settlement', () => {
  // However long a busy machine takes, nothing is signed again.
  const env = { CONFIRMATIONS: String(CONFIRMATIONS), RELAYER_REPLACE_AFTER_MS: '120000' };
  const sales = useSignedSales({ fromSource: ['verifier'], env });
  const account = (index: number) => sales().chain.accounts[index]!;

  beforeEach(() => sales().rpc('evm_setAutomine', [false]));
  afterEach(() => sales().rpc('evm_setAutomine', [true]));

  const mine = (blocks = 1) => sales().rpc('anvil_mine', [numberToHex(blocks)]);

  const readOpenJob = async (): Promise<JobRecord | null> => {
    const { chain, journal } = sales();
    const [flight] = await journal.readInFlight(createLaneId(chain.chainId, chain.relayers[0]!.address));
    return flight ? journal.readJob(flight.jobId) : null;
  };

  const waitForJob = async (state: JobRecord['state']): Promise<JobRecord> => {
    let job: JobRecord | null = null;
    await waitFor(`a settlement that is ${state}`, async () => (job = await readOpenJob())?.state === state);
    return job!;
  };

  /** The settlement's transaction is in a block, and then in none; the first request is still unanswered. */
  async function settleAndReplace(purchase: Purchase): Promise<{ first: Promise<Response>; txHash: Hex }> {
    const first = purchase.send();
    await waitForJob('BROADCAST');
    await mine();
    const { steps } = await waitForJob('MINED');
    await sales().rpc('anvil_reorg', [1, []]);
    return { first, txHash: steps[0]!.mined!.hash };
  }

  const isInPool = (txHash: Hex) =>
    waitFor('the settlement in the pool again', async () => {
      const found = (await sales().rpc('eth_getTransactionByHash', [txHash])) as { blockHash: Hex | null } | null;
      return found?.blockHash === null;
    });

  /** Expects one answer, identical for every repeat, and one settlement; returns the answer's receipt. */
  async function expectAnswer(purchase: Purchase): Promise<unknown> {
    const { body } = await retryUntilPaid(() => purchase.send(), NOT_YET);
    const again = await purchase.send();
    expect([again.status, again.headers.get('idempotent-replayed'), await again.text()]).toEqual([200, 'true', body]);
    await expectPaidOnce(sales(), [purchase.payment]);
    return readHeader(again, 'payment-response');
  }

  const orderByPermit = async () => {
    const { chain } = sales();
    const payer = account(3);
    await approvePermit2(chain, { owner: payer.address });
    return sales().present(await signPermit(chain, payer, { amountBaseUnits: BigInt(PRICE) }));
  };

  it.each<[string, () => Promise<Purchase>]>([
    ['authorization', () => sales().order()],
    ['permit', orderByPermit],
  ])('the same bytes are sent again, and the answer waits for their confirmations: %s', async (_, order) => {
    const purchase = await order();
    const { first, txHash } = await settleAndReplace(purchase);
    let early: number | undefined;
    void first.then(({ status }) => (early = status));
    await isInPool(txHash);
    expect([undefined, 503]).toContain(early);
    await mine();
    expect((await waitForJob('MINED')).steps[0]!.attempts.map(({ hash }) => hash)).toEqual([txHash]);
    expect(NOT_YET).toContain((await purchase.send()).status);
    await mine(CONFIRMATIONS - 1);
    expect([200, ...NOT_YET]).toContain((await first).status);
    expect(await expectAnswer(purchase)).toMatchObject({ success: true, transaction: txHash });
  });

  it('F11: the verifier dies after it noticed, and the next one sends the same bytes', async () => {
    const purchase = await sales().order();
    sales().crashAt('F11');
    const { first, txHash } = await settleAndReplace(purchase);
    const dead = await waitForDeath([sales().stack.verifiers[0]!]);
    await dead.restart();
    await isInPool(txHash);
    await mine(CONFIRMATIONS);
    expect([200, ...NOT_YET]).toContain((await first).status);
    expect(await expectAnswer(purchase)).toMatchObject({ success: true, transaction: txHash });
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

  it('and a third party has sent the authorization by then, the payer is charged once and answered', async () => {
    const purchase = await sales().order(account(1));
    const { payment } = purchase;
    if (payment.kind !== 'authorization') throw new Error('a permit is nothing that a stranger can send');
    const { first, txHash } = await settleAndReplace(purchase);
    const places = { asset: sales().chain.asset, multicall3: MULTICALL3, isDeployed: true };
    const { data } = planTransfer(payment.authorization, splitSignature(payment.signature)!, places);
    const theirs = await sendFirst(account(8).address, data);
    await isInPool(txHash);
    await mine(CONFIRMATIONS);
    expect([200, ...NOT_YET]).toContain((await first).status);
    expect(await expectAnswer(purchase)).toMatchObject({ success: true, transaction: theirs });
  });

  it('and the payer has moved its balance away by then, it gets nothing and is charged nothing', async () => {
    const payer = account(2);
    const purchase = await sales().order(payer);
    const { first, txHash } = await settleAndReplace(purchase);
    const amountBaseUnits = await readBalance(sales().chain, payer.address);
    await sendFirst(payer.address, encodeTransfer(sales().chain, { amountBaseUnits, to: account(8).address }));
    await isInPool(txHash);
    await mine(CONFIRMATIONS);
    const early = await first;
    if (early.status !== 402) {
      expect(NOT_YET).toContain(early.status);
      await waitFor('a refusal', async () => {
        const { status } = await purchase.send();
        expect([402, ...NOT_YET]).toContain(status);
        return status === 402;
      });
    }
    expect((await purchase.send()).headers.get('x-payment-failure')).toBe('balance_too_low');
    await expectPaidOnce(sales(), []);
  });
});
