import { nonceOf, PaymentError, type Hex, type SignedPayment } from '@tollgate/protocol';

import type { SignedTransaction } from '../account/signed-transaction.js';
import type { Wallet } from '../account/wallet.js';
import { payingMethodOf } from '../methods/registry.js';
import { sleep } from '../network/sleep.js';
import type { PaymentContext } from '../sign/payment-options.js';
import { endsAtMs, type StoredRevision } from '../store/payment-store.js';

const FIRST_POLL_MS = 50;
const LONGEST_POLL_MS = 1000;
/** How often a transaction that is not mined is sent again, because nodes drop transactions from their pools. */
const SEND_AGAIN_MS = 5000;
type Outcome = 'success' | 'failed' | 'replaced';

const isUnreachable = (error: unknown): error is PaymentError =>
  error instanceof PaymentError && error.code === 'wallet_unavailable';

/** Sends the bytes again, unless another transaction has their nonce. */
async function sendAgain(wallet: Wallet, payer: Hex, transaction: SignedTransaction): Promise<Outcome | null> {
  const { txHash, nonce } = transaction;
  const refusal = await wallet.broadcast(transaction).then(
    () => null,
    (error: unknown) => error,
  );
  // Null too where the chain cannot be read that far: then the payment stays open.
  const use = await wallet.readNonceUse(payer, nonce).catch(() => null);
  if (use === null) {
    if (refusal === null || isUnreachable(refusal)) return null;
    throw refusal as Error;
  }
  // Its receipt may be late.
  if (use.txHash === txHash) return null;
  if (use.isFinal) return 'replaced';
  throw new PaymentError(
    'payment_pending',
    `The transaction ${use.txHash} has taken the nonce of the payment ${txHash}, in a block that is not final yet.`,
    {
      hint: 'It is in the store. The same request looks again, and a new payment can follow once the block is final. If the key is used elsewhere too, give each program one of its own.',
      details: { txHash, by: use.txHash },
    },
  );
}

/** A payment that is followed on its own chain. */
interface Followed {
  context: PaymentContext;
  wallet: Wallet;
  key: string;
}

interface Waiting {
  /** When this call sent the transaction; 0 if it did not. */
  sentAtMs: number;
  deadlineAtMs: number;
  signal: AbortSignal | null;
}

async function pollOutcome(
  { context, wallet, key }: Followed,
  { payer, transaction }: { payer: Hex; transaction: SignedTransaction },
  { sentAtMs: firstSentAtMs, deadlineAtMs, signal }: Waiting,
): Promise<Outcome> {
  let sentAtMs = firstSentAtMs;
  let delayMs = FIRST_POLL_MS;
  let problem: PaymentError | null = null;
  for (;;) {
    signal?.throwIfAborted();
    try {
      let outcome: Outcome | null = await wallet.readOutcome(transaction.txHash);
      if (!outcome && Date.now() - sentAtMs >= SEND_AGAIN_MS) {
        outcome = await sendAgain(wallet, payer, transaction);
        sentAtMs = Date.now();
      }
      if (outcome) return outcome;
      problem = null;
    } catch (error) {
      if (!isUnreachable(error)) throw error;
      if (!problem) context.onEvent({ type: 'waiting', key, reason: error.message.replace(/\.$/, ''), delayMs });
      problem = error;
    }
    if (Date.now() + delayMs > deadlineAtMs) {
      const { txHash } = transaction;
      const message = problem
        ? `It is unknown whether the payment ${txHash} is mined. ${problem.message}`
        : `The payment ${txHash} is not mined yet.`;
      throw new PaymentError('payment_pending', message, {
        hint: 'It is in the store. The same request with the same store continues to wait and then redeems it.',
        details: { txHash },
        cause: problem ?? undefined,
      });
    }
    await sleep(delayMs, signal);
    delayMs = Math.min(delayMs * 1.5, LONGEST_POLL_MS);
  }
}

/**
 * The server has the signed payment settled, so there is no transaction to wait for. At the end of its validity it
 * becomes void.
 * @throws PaymentError `payment_pending` after that end for a wallet that cannot read whether it was used
 */
async function isStillGood(wallet: Wallet, asset: Hex, signed: SignedPayment): Promise<boolean> {
  if (Date.now() < endsAtMs(signed)) return true;
  const isExpired = await payingMethodOf(signed.kind).isExpired(wallet, asset, signed);
  if (isExpired !== undefined) return !isExpired;
  const nonce = nonceOf(signed);
  throw new PaymentError(
    'payment_pending',
    `The signature ${nonce} has expired, and this wallet cannot tell whether it was used.`,
    {
      hint: 'Run `tollgate-pay` for the same request and store. It reads the chain: a used payment is redeemed, an unused one is replaced by a new one.',
      details: { nonce },
    },
  );
}

/** A reverted transaction may succeed after a reorganisation, until its block is final. */
async function isFinallyReverted(wallet: Wallet, payer: Hex, { txHash, nonce }: SignedTransaction) {
  const use = await wallet.readNonceUse(payer, nonce);
  return use?.txHash === txHash && use.isFinal && (await wallet.readOutcome(txHash)) === 'failed';
}

/**
 * Waits until a signed payment is mined, and sends the stored bytes again if the chain does not have them.
 * @returns its newest revision when it succeeded or is an authorization; null when it can never be mined and was marked
 * so, which allows a new payment.
 * @throws PaymentError `transaction_failed`, `payment_pending`, or `broadcast_refused` while the outcome is open.
 */
export async function awaitPayment(
  context: PaymentContext,
  key: string,
  found: StoredRevision,
  waiting: Waiting,
): Promise<StoredRevision | null> {
  const { payment } = found;
  const wallet = context.wallets.find(({ chainId }) => chainId === payment.chainId);
  if (wallet === undefined) {
    throw new PaymentError('wrong_chain', `The stored payment is on chain ${payment.chainId}.`, {
      hint: 'Redeem it with a wallet on that chain.',
    });
  }
  const { transaction, authorization } = payment;
  if (authorization) {
    if (await isStillGood(wallet, payment.requirement.asset, authorization)) return found;
    await context.store.write(key, { ...payment, state: 'replaced' }, found.revision);
    return null;
  }
  if (!transaction) throw new PaymentError('store_damaged', `The stored payment ${key} has no transaction.`);
  const outcome = await pollOutcome({ context, wallet, key }, { ...payment, transaction }, waiting);
  if (outcome === 'success') {
    context.onEvent({ type: 'mined', key, payment });
    return found;
  }
  const { txHash } = transaction;
  if (outcome === 'failed' && !(await isFinallyReverted(wallet, payment.payer, transaction))) {
    throw new PaymentError('payment_pending', `The payment ${txHash} reverted in a block that is not final yet.`, {
      hint: 'It is in the store. The same request looks again, and a new payment can follow once the block is final.',
      details: { txHash },
    });
  }
  await context.store.write(key, { ...payment, state: outcome }, found.revision);
  if (outcome === 'replaced') return null;
  throw new PaymentError('transaction_failed', `The payment ${txHash} was mined but reverted.`, {
    hint: 'No tokens moved. The next call makes a new payment.',
    details: { txHash },
  });
}
