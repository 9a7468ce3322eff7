import { WalletDirectory } from '@tollgate/agent-jobs';
import { createLaneId, Journal } from '@tollgate/journal';
import { nameOfPayment, type Ledger } from '@tollgate/ledger';
import type { OperatorRefund } from '@tollgate/operator-api';
import { nameRefund } from '@tollgate/refunds';

import { connectOperator, type AskOperator } from '../../test/harness/agents/operator-client.js';
import { waitFor } from '../../test/harness/retry.js';
import type { Devnet } from '../../tools/devnet/chain/chain.js';
import { transferTokens } from '../../tools/devnet/chain/transfer-tokens.js';
import { createOperatorKey } from '../../tools/devnet/stack/create-operator-key.js';
import type { BenchBook } from '../bookkeepers.js';
import { timeEach } from '../load.js';
import type { Sample } from '../run-rounds.js';

const PRICE = 1_000n;

interface RefundDesk {
  ask: AskOperator;
  journal: Journal;
  ledger: Ledger;
  chain: Devnet;
}

/**
 * Publishes the wallet of refunds, as an agent worker does. No worker runs: the journal gets the jobs, and nothing sends
 * them.
 */
export async function openRefunds(
  { server, redis, ledger, bookkeeper }: BenchBook,
  chain: Devnet,
): Promise<RefundDesk> {
  const [wallet] = chain.agentWallets;
  if (wallet === undefined) throw new Error('the devnet has no agent wallets');
  const lane = createLaneId(chain.chainId, wallet.address);
  const journal = new Journal({ redis, timeoutMs: 30_000 });
  await journal.open();
  await journal.adopt(lane, { pendingNonce: 0 });
  await new WalletDirectory(redis).publish({ name: 'refunds', lane });
  return { ask: connectOperator(bookkeeper.url, await createOperatorKey(server.url)), journal, ledger, chain };
}

/** The time from a request until the journal has the job, of so many refunds. */
export async function requestRefunds(desk: RefundDesk, count: number, atOnce: number): Promise<Sample> {
  const payments = await payRefused(desk, count);
  const isKnown = (payment: string): Promise<boolean> =>
    desk.ask(`payments/${payment}`).then(
      () => true,
      () => false,
    );
  // In the order in which they were refused.
  await waitFor('all are booked', () => isKnown(payments.at(-1) ?? ''));
  return timeEach(atOnce, payments, (payment) => refund(desk, payment));
}

/** Payments that the ledger has refused, by name. */
async function payRefused({ ledger, chain }: RefundDesk, count: number): Promise<string[]> {
  const payer = chain.accounts[0]?.address ?? '0x';
  const names: string[] = [];
  while (names.length < count) {
    const txHash = await transferTokens(chain, { amountBaseUnits: PRICE });
    const id = { kind: 'transfer', chainId: chain.chainId, txHash, logIndex: 0 } as const;
    await ledger.recordRefusal({ id, failure: 'payment_too_old', amountBaseUnits: PRICE, payer });
    names.push(nameOfPayment(id));
  }
  return names;
}

async function refund({ ask, journal }: RefundDesk, payment: string): Promise<void> {
  let { job } = JSON.parse(await ask('refunds', { payment })) as OperatorRefund;
  // Asked for again where the bookkeeper went on without this request.
  while (job === null || (await journal.readJob(job)) === null) {
    ({ job } = JSON.parse(await ask(`refunds/${nameRefund(payment, 1)}`)) as OperatorRefund);
  }
}
