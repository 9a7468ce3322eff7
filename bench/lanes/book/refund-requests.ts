import { WalletDirectory } from '@tollgate/agent-jobs';
import { createLaneId, Journal } from '@tollgate/journal';
import { nameOfPayment, type Ledger } from '@tollgate/ledger';
import type { OperatorRefund } from '@tollgate/operator-api';
import { nameRefund } from '@tollgate/refunds';
import { Redis } from 'ioredis';

import { connectOperator, type AskOperator } from '../../../test/harness/agents/operator-client.js';
import { waitFor } from '../../../test/harness/retry.js';
import type { Devnet } from '../../../tools/devnet/chain/chain.js';
import { transferTokens } from '../../../tools/devnet/chain/transfer-tokens.js';
import { startRedis } from '../../../tools/devnet/processes/redis.js';
import { createOperatorKey } from '../../../tools/devnet/stack/create-operator-key.js';
import { startBenchChain } from '../../bench-chain.js';
import type { LaneOptions, LaneRow } from '../../lane.js';
import { timeEach } from '../../load/time-each.js';
import { runRounds, type Case, type Sample } from '../../run-rounds.js';
import type { KeepUntilEnd } from '../../with-cleanup.js';
import { openBenchLedger } from './booked-ledger.js';
import { startBenchBookkeeper, STORES } from './start-bench-bookkeeper.js';

const AT_ONCE = 8;
const PRICE = 1_000n;
const ENV = { OPERATOR_RATE_LIMIT_PER_MINUTE: '0', OPERATOR_WRITES_PER_DAY: '0' };

/** The time from the request for a refund until the journal has the job that sends it. */
export async function measureRefundRequests(
  { rounds, quick, progress }: LaneOptions,
  keep: KeepUntilEnd,
): Promise<LaneRow[]> {
  const count = quick ? 16 : 80;
  const chain = keep(await startBenchChain());
  const requests: Case = { name: `${AT_ONCE} refund requests at once`, baseline: 'PostgreSQL', subjects: [] };
  for (const store of STORES) {
    const server = keep(await startRedis());
    const ledger = await openBenchLedger(server.url, true, keep);
    const redis = new Redis(server.url);
    keep({ stop: async () => redis.disconnect() });
    const { bookkeeper } = await startBenchBookkeeper(store, { redis: server, chain, env: ENV }, keep);
    if (bookkeeper === null) throw new Error('no bookkeeper was started');
    const ask = connectOperator(bookkeeper.url, await createOperatorKey(server.url));
    const journal = await openRefundJournal(redis, chain);
    const measure = async (): Promise<Sample> => {
      const payments = await payRefused(chain, ledger, count);
      // In the order in which they were refused.
      await waitFor('all are booked', () => isKnown(ask, payments.at(-1) ?? ''));
      return timeEach(AT_ONCE, () => {
        const payment = payments.pop();
        return payment === undefined ? undefined : refund(ask, journal, payment);
      });
    };
    requests.subjects.push({ name: store, measure });
  }
  return runRounds([requests], rounds, progress);
}

/** With the wallet of refunds, as an agent worker publishes it, whose jobs nobody sends. */
async function openRefundJournal(redis: Redis, { agentWallets: [wallet], chainId }: Devnet): Promise<Journal> {
  if (wallet === undefined) throw new Error('the devnet has no agent wallets');
  const lane = createLaneId(chainId, wallet.address);
  const journal = new Journal({ redis, timeoutMs: 30_000 });
  await journal.open();
  await journal.adopt(lane, { pendingNonce: 0 });
  await new WalletDirectory(redis).publish({ name: 'refunds', lane });
  return journal;
}

/** Payments that the ledger has refused, by name. */
async function payRefused(chain: Devnet, ledger: Ledger, count: number): Promise<string[]> {
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

function isKnown(ask: AskOperator, payment: string): Promise<boolean> {
  return ask(`payments/${payment}`).then(
    () => true,
    () => false,
  );
}

async function refund(ask: AskOperator, journal: Journal, payment: string): Promise<void> {
  let { job } = JSON.parse(await ask('refunds', { payment })) as OperatorRefund;
  // Asked for again where the bookkeeper went on without this request.
  while (job === null || (await journal.readJob(job)) === null) {
    ({ job } = JSON.parse(await ask(`refunds/${nameRefund(payment, 1)}`)) as OperatorRefund);
  }
}
