import type { Receipt } from '@tollgate/chain';
import { codeOfLane, createLaneId, isFinal, UnreadableJobError, type JobRecord } from '@tollgate/journal';
import { listTransfers, type Hex } from '@tollgate/protocol';

import type { RefundBook, RefundPorts } from './ports.js';
import { describeInput, isSameTransfer, listHashes, minedTransaction } from './refund-job.js';
import type { Refund } from './refund.js';

export type TransactionVerdict =
  /** `amount`: base units that it paid to the refund's payer. */
  { outcome: 'paid'; amount: bigint } | { outcome: 'not_paid'; detail: string };

/**
 * Whether a transaction paid a refund whose job is no longer stored: it is final, and moved the token from an account of
 * ours to the payer, for no other refund. The amount is what the chain shows: a book that was restored may have another.
 */
export async function judgeTransaction(
  ports: RefundPorts,
  refund: Refund,
  transaction: Hex,
): Promise<TransactionVerdict> {
  const { chain, journal, book } = ports;
  const { confirmations } = ports.settings;
  const { chainId } = chain;
  if (refund.chainId !== chainId)
    return notPaid(`The refund is of chain ${refund.chainId}, and the bookkeeper reads chain ${chainId} (CHAIN_ID).`);
  // As of a refund that was given up, and whose job the journal has again.
  const own = await journal.readJob(refund.job ?? '');
  const fault = own && (await findFaultOf(own, transaction, book, refund));
  if (fault !== null) return notPaid(fault);
  const mined = await chain.readTransaction(transaction);
  if (mined === null || mined.receipt.status !== 'success')
    return notPaid('The chain does not show this transaction as successful.');
  const { logs, blockNumber } = mined.receipt;
  const amount = await sumPaid(ports, refund, listTransfers(logs, refund.asset));
  if (amount === 0n)
    return notPaid(
      "It has no transfer of the refund's token to the payer from an account that the book knows as yours.",
    );
  const other = await findJobOf(ports, refund, mined.receipt);
  if (other !== null) return notPaid(other);
  if (blockNumber > (await chain.readHeadNumber()) - confirmations + 1)
    return notPaid(`It is not final yet: wait for ${confirmations} blocks (RECONCILE_CONFIRMATIONS).`);
  return { outcome: 'paid', amount };
}

/** Whether a job's transaction is booked for another refund: then it has not paid this one. */
export async function hasPaidAnother(book: RefundBook, job: JobRecord, { id }: Refund): Promise<boolean> {
  return job.state === 'FINAL' && (await book.findPaidBy(minedTransaction(job), id)) !== null;
}

/** Why the transaction does not pay the refund, by what the refund's own job did and may do yet; null: it may. */
async function findFaultOf(job: JobRecord, transaction: Hex, book: RefundBook, refund: Refund): Promise<string | null> {
  // Once its own transaction is final, the nonce is used, and it sends nothing else.
  if (listHashes(job).includes(transaction)) return null;
  if (!isFinal(job.state)) {
    const advice = 'Cancel that job first, or abandon it (`tollgate jobs abandon`) where it needs an operator.';
    return `The journal has its job ${job.id} as ${job.state}, which may still pay it. ${advice}`;
  }
  // Its terms may be others, in a book that was restored.
  if (job.state !== 'FINAL' || !isSameTransfer(job, describeInput(refund))) return null;
  if (await hasPaidAnother(book, job, refund)) return null;
  return `Its job ${job.id} has paid it by ${minedTransaction(job)}. Name that transaction.`;
}

function notPaid(detail: string): TransactionVerdict {
  return { outcome: 'not_paid', detail };
}

/** What our accounts sent to the payer: the wallet of the refund's job, or one that was the wallet before. */
async function sumPaid(
  { chain, book }: RefundPorts,
  { job, recipient }: Refund,
  transfers: ReturnType<typeof listTransfers>,
): Promise<bigint> {
  let sum = 0n;
  for (const { from, to, amountBaseUnits } of transfers) {
    if (to !== recipient) continue;
    if (isJobOf(job, chain.chainId, from) || (await book.isOwnAccount(chain.chainId, from))) sum += amountBaseUnits;
  }
  return sum;
}

/** Whether the account sends the job. */
function isJobOf(job: string | null, chainId: number, account: Hex): boolean {
  return job?.startsWith(`${codeOfLane(createLaneId(chainId, account))}-`) === true;
}

/** The job of another refund that sent the transaction, which the book does not have yet as that refund's; null: none did. */
async function findJobOf(
  { journal, book }: RefundPorts,
  refund: Refund,
  { txHash, from }: Pick<Receipt, 'txHash' | 'from'>,
): Promise<string | null> {
  const unpaid = await book.listUnpaid(refund);
  const others = unpaid.filter(({ job }) => isJobOf(job, refund.chainId, from));
  const jobs = await journal.readEachJob(others.map(({ job }) => job ?? ''));
  for (const [index, { id }] of others.entries()) {
    const job = jobs[index] ?? null;
    if (job instanceof UnreadableJobError)
      return `The record of the job of the refund ${id} cannot be read, and the transaction may be of that job.`;
    if (job !== null && listHashes(job).includes(txHash))
      return `The job of the refund ${id} has sent it, so it is booked for that one.`;
  }
  return null;
}
