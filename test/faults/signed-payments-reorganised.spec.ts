import { createLaneId, type JobRecord } from '@tollgate/journal';
import { numberToHex, type Hex } from 'viem';

import { readHeader } from '../../apps/gateway/test/present-payments.js';
import { retryUntilPaid, waitFor } from '../harness/retry.js';
import { waitForDeath } from '../harness/stack/use-agents.js';
import { expectPaidOnce, useSignedSales, type Purchase } from '../harness/stack/use-signed-sales.js';

jest.setTimeout(180_000);

const CONFIRMATIONS = 3;
/** Until the end of its payment is known, a payer gets "pending", and never a request to pay again. */
const NOT_YET = [409, 503] as const;

/** A block with a settlement is replaced before it is CONFIRMATIONS blocks deep. */
describe('when a reorganisation removes the block of a settlement', () => {
  // However long a busy machine takes, nothing is signed again.
  const env = { CONFIRMATIONS: String(CONFIRMATIONS), RELAYER_REPLACE_AFTER_MS: '120000' };
  const sales = useSignedSales({ fromSource: ['verifier'], env });

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
});
