import {
  type ChainReader,
  describeDoubtfulUse,
  findAuthorizationUse,
  findPermitUse,
  notShown,
  planPermitTransfer,
  planTransfer,
  type SentPayment,
  type Sighting,
  unwrapSignature,
  wasSent,
} from '@tollgate/chain';
import { signedPaymentId, type Ledger } from '@tollgate/ledger';
import {
  type Hex,
  payerOf,
  type PaymentFailure,
  recipientOf,
  type SignedAuthorization,
  type SignedPayment,
  type SignedPermit,
} from '@tollgate/protocol';

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

/** Failures of the rules that follow where the nonce is free: it may be so only on an RPC server that lags behind. */
const FOUND_WITH_FREE_NONCE: ReadonlySet<PaymentFailure> = new Set([
  'authorization_expired',
  'balance_too_low',
  'permit2_allowance_missing',
  'simulation_failed',
  'settlement_failed',
  'contract_wallet_refused',
  'contract_wallet_paused',
  'deployment_too_costly',
  'unknown_reference',
  'released_too_often',
]);

/** Whether the refused payment may have been settled unseen. One with a record was seen. */
export function needsReview({ failure, record }: PaymentRefused): boolean {
  return record === undefined && (FOUND_BEFORE_NONCE.has(failure) || FOUND_WITH_FREE_NONCE.has(failure));
}

export interface ReviewParts {
  chain: ChainReader;
  ledger: Pick<Ledger, 'whySpent' | 'recall' | 'nowMs'>;
  rules: SignedPaymentRules;
  /** Read once no relayer can move the payment any more. */
  sent: SentPayment;
}

type Reviewed<Payment> = Omit<Judged<Payment>, 'domainSeparator' | 'validForMs'>;

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
  reviewed: Reviewed<SignedPayment>,
  parts: ReviewParts,
): Promise<SignedJudgement> {
  const { terms, payment } = reviewed;
  // Money that another sender has moved to another account is not this seller's.
  if (failure === 'recipient_mismatch' && !wasSent(parts.sent)) throw new PaymentRefused(failure);
  const shown = await readSent(reviewed, parts);
  const isFree = FOUND_WITH_FREE_NONCE.has(failure);
  // The rules have read the nonce as free, or the payment is too old; no transaction of a relayer has moved it since.
  if (isFree && shown === undefined) throw new PaymentRefused(failure);
  const { isTaken, headBlockNumber: head } = await readNonce(reviewed, parts, shown);
  if (!isTaken && shown !== undefined && head < shown.headBlockNumber) throw notShown();
  if (!isTaken) throw new PaymentRefused(failure);
  // The next request is judged by the settlement, from a server that shows it; one that is too old never is.
  if (isFree && !isForgotten(reviewed, parts)) throw notShown();
  const moved = await (payment.kind === 'permit2'
    ? findPermitMove({ ...reviewed, payment }, parts, head)
    : findAuthorizationMove({ ...reviewed, payment }, parts, head));
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
function isForgotten({ payment, nowMs }: Reviewed<SignedPayment>, { rules }: ReviewParts): boolean {
  const validBefore =
    payment.kind === 'permit2' ? payment.permit2Authorization.deadline : payment.authorization.validBefore;
  return Number(validBefore) * 1000 < nowMs - rules.memoryMs;
}

/**
 * The relayer's transaction as a server shows it, mined; undefined where there is none. The nonce is read from a server
 * that has it: one that lags behind, or has lost the block to a reorganisation, would show it as free.
 */
async function readSent(
  { deadlineMs, lookUps }: Reviewed<SignedPayment>,
  { chain, sent: { job, txHashes } }: ReviewParts,
): Promise<Sighting | undefined> {
  if (job !== 'open') return undefined;
  const sightings = await Promise.all(txHashes.map((txHash) => chain.readTransaction(txHash, deadlineMs, lookUps)));
  const shown = sightings.find(({ mined }) => mined !== null);
  if (shown === undefined) throw notShown();
  return shown;
}

function readNonce(
  { terms: { asset }, payment, deadlineMs }: Reviewed<SignedPayment>,
  { chain }: ReviewParts,
  shown?: Sighting,
): Promise<{ isTaken: boolean | null; headBlockNumber: number }> {
  if (payment.kind === 'permit2') {
    const { from: owner, nonce } = payment.permit2Authorization;
    return chain.readPermitNonce({ owner, nonce }, deadlineMs, shown);
  }
  const { from: payer, nonce } = payment.authorization;
  return chain.readNonce({ asset, payer, nonce }, deadlineMs, shown);
}

async function findAuthorizationMove(
  { terms: { asset }, payment, nowMs, deadlineMs, lookUps: asker }: Reviewed<SignedAuthorization>,
  { chain, rules, sent }: ReviewParts,
  headBlockNumber: number,
): Promise<Moved | null> {
  const { authorization } = payment;
  const { to: payTo, value } = authorization;
  const promised = { asset, payTo, authorization };
  const lookUp = { promised, sent, asker, sinceMs: nowMs - rules.memoryMs, deadlineMs };
  const use = await findAuthorizationUse(chain, lookUp, headBlockNumber);
  const amountBaseUnits = BigInt(value);
  if (use.outcome !== 'settled') {
    if (use.outcome === 'cancelled' || use.txHash !== null || sent.job !== 'forgotten') return null;
    const facts = { amountBaseUnits, detail: 'a relayer may have sent it, and its transaction is not found' };
    return { settlement: null, headBlockNumber, isSignedSo: false, facts };
  }
  const signature = { kind: 'contract', bytes: bytesOf(payment), isWrapped: false, deployment: null } as const;
  const { multicall3 } = rules;
  const { data } = planTransfer(authorization, signature, { asset, multicall3, isDeployed: true });
  const { minedAtMs } = use;
  // At any byte, since it may be one of several calls, such as the one behind a wallet's deployment.
  const isSignedSo = use.input.includes(data.slice('0x'.length));
  return { settlement: use, headBlockNumber, isSignedSo, facts: { amountBaseUnits, minedAtMs } };
}

async function findPermitMove(
  { terms: { asset }, payment, nowMs, deadlineMs, lookUps: asker }: Reviewed<SignedPermit>,
  { chain, rules, sent }: ReviewParts,
  headBlockNumber: number,
): Promise<Moved | null> {
  const promised = { asset, payTo: recipientOf(payment), payment };
  const lookUp = { promised, sent, asker, sinceMs: nowMs - rules.memoryMs, deadlineMs };
  const use = await findPermitUse(chain, lookUp, headBlockNumber);
  if (use.outcome === 'used') return null;
  if (use.outcome !== 'settled') {
    return { settlement: null, headBlockNumber, isSignedSo: false, facts: describeDoubtfulUse(use) };
  }
  const { amountBaseUnits, minedAtMs } = use;
  const { data } = planPermitTransfer({ ...payment, signature: bytesOf(payment) }, amountBaseUnits);
  const isSignedSo = use.input.startsWith(data);
  return { settlement: use, headBlockNumber, isSignedSo, facts: { amountBaseUnits, minedAtMs } };
}

/** The signature as it is sent for a contract: without the wrapper of EIP-6492. */
function bytesOf({ signature }: SignedPayment): Hex {
  return unwrapSignature(signature)?.bytes ?? signature;
}

/**
 * The refusal. Its record leaves out money that has bought an answer or is being refunded; a request that claims the
 * payment at this moment, at a gateway with other prices, marks the record as redeemed once it is answered.
 */
async function refuse(
  failure: PaymentFailure,
  { reviewed: { terms, payment }, facts }: { reviewed: Reviewed<SignedPayment>; facts: Moved['facts'] },
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
  return new PaymentRefused(failure, { id, payer: payerOf(payment), ...facts, ...doubt });
}
