import { chainMethods, type ChainReader, notShown, type SentPayment, type Sighting, wasSent } from '@tollgate/chain';
import { signedPaymentId, type Ledger } from '@tollgate/ledger';
import { payerOf, recipientOf, validityOf, type PaymentFailure, type SignedPayment } from '@tollgate/protocol';

import { verificationMethods } from '../methods/registry.js';
import { describeDoubt, PaymentRefused } from '../refusals.js';
import { assertConfirmed } from '../transactions/transaction-rules.js';
import type { Judged, SettlingTransaction, SignedJudgement, SignedPaymentRules } from './signed-judgement.js';

/** Failures of the rules that come before the look at the nonce: the payment may have been settled nevertheless. */
const FOUND_BEFORE_NONCE: ReadonlySet<PaymentFailure> = new Set([
  'recipient_mismatch',
  'amount_mismatch',
  'amount_too_low',
  'facilitator_mismatch',
  'signature_invalid',
]);

/** Failures of the rules that follow where the nonce is free, beside a missing approval: it may be so only on an RPC server that lags behind. */
const FOUND_WITH_FREE_NONCE: ReadonlySet<PaymentFailure> = new Set([
  'authorization_expired',
  'balance_too_low',
  'simulation_failed',
  'settlement_failed',
  'contract_wallet_refused',
  'contract_wallet_paused',
  'deployment_too_costly',
  'unknown_reference',
  'released_too_often',
]);

/** Whether the refused payment may have been settled unseen. One with a record was seen. */
export function needsReview({ failure, record }: PaymentRefused, payment: SignedPayment): boolean {
  return record === undefined && (FOUND_BEFORE_NONCE.has(failure) || isFoundWithFreeNonce(failure, payment));
}

function isFoundWithFreeNonce(failure: PaymentFailure, payment: SignedPayment): boolean {
  return FOUND_WITH_FREE_NONCE.has(failure) || failure === verificationMethods.of(payment).approval?.failure;
}

export interface ReviewParts {
  chain: ChainReader;
  ledger: Pick<Ledger, 'whySpent' | 'recall' | 'nowMs'>;
  rules: SignedPaymentRules;
  /** Read once no relayer can move the payment any more. */
  sent: SentPayment;
}

type Reviewed = Omit<Judged, 'domainSeparator' | 'validForMs'>;

/** What the payment has moved to its recipient. */
interface Moved {
  /** Null when the way it was moved leaves a doubt, or where it was not found. */
  settlement: SettlingTransaction | null;
  headBlockNumber: number;
  /** The settling transaction carries the presented signature. */
  isSignedSo: boolean;
  facts: { amountBaseUnits?: bigint; minedAtMs?: number; detail?: string };
}

/**
 * The last look before a refusal that `needsReview`, since a refusal makes the payer sign anew: its money may have been
 * moved before the price, the recipient or its wallet's answer changed, or in a block that the RPC server has not seen.
 * Call it when no relayer can move the payment any more: one that is settled in between would be missed.
 * @returns the judgement of a payment that was settled by the presented signature, which its wallet now rejects
 * @throws PaymentRefused the refusal, with a record for a refund of money that was moved and has bought nothing
 * @throws ChainUnavailableError, StoreUnavailableError
 */
export async function reviewRefusal(
  failure: PaymentFailure,
  reviewed: Reviewed,
  parts: ReviewParts,
): Promise<SignedJudgement> {
  const { terms, payment } = reviewed;
  // Money that another sender has moved to another account is not this seller's.
  if (failure === 'recipient_mismatch' && !wasSent(parts.sent)) throw new PaymentRefused(failure);
  const shown = await readSent(reviewed, parts);
  const isFree = isFoundWithFreeNonce(failure, payment);
  // The rules have read the nonce as free, or the payment is too old; no transaction of a relayer has moved it since.
  if (isFree && shown === undefined) throw new PaymentRefused(failure);
  const nonce = chainMethods.of(payment).askForNonceOf(payment, terms.asset);
  const { isTaken, headBlockNumber: head } = await parts.chain.readNonce(nonce, reviewed.deadlineMs, shown);
  if (!isTaken && shown !== undefined && head < shown.headBlockNumber) throw notShown();
  if (!isTaken) throw new PaymentRefused(failure);
  // The next request is judged by the settlement, from a server that shows it; one that is too old never is.
  if (isFree && !isForgotten(reviewed, parts)) throw notShown();
  const moved = await findMove(reviewed, parts, head);
  if (moved === null) throw new PaymentRefused(failure);
  const { settlement, headBlockNumber, isSignedSo, facts } = moved;
  // A block that is replaced gives the money back, so it is neither served nor recorded yet.
  if (settlement !== null) assertConfirmed(settlement.blockNumber, headBlockNumber, parts.rules.confirmations);
  const { amountBaseUnits } = facts;
  if (failure === 'signature_invalid' && settlement !== null && isSignedSo && amountBaseUnits !== undefined) {
    const promised = { id: signedPaymentId(terms, payment), payer: payerOf(payment), amountBaseUnits };
    return { ...promised, settlement, headBlockNumber: Math.max(headBlockNumber, settlement.blockNumber) };
  }
  throw await refuse(failure, { reviewed, facts }, parts);
}

/** It expired before the ledger's memory begins, so it is refused before its nonce is read. */
function isForgotten({ payment, nowMs }: Reviewed, { rules }: ReviewParts): boolean {
  return Number(validityOf(payment).validBefore) * 1000 < nowMs - rules.memoryMs;
}

/**
 * The relayer's transaction as a server shows it, mined; undefined where there is none. The nonce is read from a server
 * that has it: one that lags behind, or has lost the block to a reorganisation, would show it as free.
 */
async function readSent(
  { deadlineMs, lookUps }: Reviewed,
  { chain, sent: { job, txHashes } }: ReviewParts,
): Promise<Sighting | undefined> {
  if (job !== 'open') return undefined;
  const sightings = await Promise.all(txHashes.map((txHash) => chain.readTransaction(txHash, deadlineMs, lookUps)));
  const shown = sightings.find(({ mined }) => mined !== null);
  if (shown === undefined) throw notShown();
  return shown;
}

async function findMove(
  { terms: { asset }, payment, nowMs, deadlineMs, lookUps: asker }: Reviewed,
  { chain, rules, sent }: ReviewParts,
  headBlockNumber: number,
): Promise<Moved | null> {
  const method = chainMethods.of(payment);
  const promised = { asset, payTo: recipientOf(payment), payment };
  const lookUp = { promised, sent, asker, sinceMs: nowMs - rules.memoryMs, deadlineMs };
  const use = await method.findUse(chain, lookUp, headBlockNumber);
  if (use.outcome === 'settled') {
    const { amountBaseUnits, minedAtMs } = use;
    const isSignedSo = method.isSignedIn(use, payment);
    return { settlement: use, headBlockNumber, isSignedSo, facts: { amountBaseUnits, minedAtMs } };
  }
  if (use.outcome !== 'doubtful') return null;
  // One that was used before the ledger's memory is in doubt only where a relayer may have sent it.
  if (use.failure === 'payment_too_old' && sent.job !== 'forgotten') return null;
  return { settlement: null, headBlockNumber, isSignedSo: false, facts: use.facts };
}

/**
 * The refusal. Its record leaves out money that has bought an answer or is being refunded; a request that claims the
 * payment at this moment, at a gateway with other prices, marks the record as redeemed once it is answered.
 */
async function refuse(
  failure: PaymentFailure,
  { reviewed: { terms, payment }, facts }: { reviewed: Reviewed; facts: Moved['facts'] },
  { ledger, rules }: ReviewParts,
): Promise<PaymentRefused> {
  const id = signedPaymentId(terms, payment);
  if ((await ledger.whySpent(id)) !== null) return new PaymentRefused(failure);
  const { minedAtMs = Infinity } = facts;
  const recalled = await ledger.recall({ id, minedAtMs });
  // Anyone can make up a signature: the payment is owed to this payer only if a request has shown the right one.
  if (failure === 'signature_invalid' && recalled === 'unknown') return new PaymentRefused(failure);
  const reason = recalled === 'forgotten' ? 'older_than_ledger' : failure;
  const doubt = describeDoubt(reason, { minedAtMs, nowMs: ledger.nowMs(), memoryMs: rules.memoryMs });
  // After `recipient_mismatch` it is another account than the request asks about.
  const parties = { payer: payerOf(payment), payTo: recipientOf(payment) };
  return new PaymentRefused(failure, { id, ...parties, ...facts, ...doubt });
}
