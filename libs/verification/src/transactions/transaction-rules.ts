import type { ChainReader, MinedTransaction, Receipt, Sighting } from '@tollgate/chain';
import type { PaymentPolicy } from '@tollgate/config';
import { recoverAccount } from '@tollgate/crypto';
import type { PaymentCandidate, PaymentId } from '@tollgate/ledger';
import { findHashLocks, matchesHashLock, type Hex, proofMessage } from '@tollgate/protocol';
import type { VerifyPaymentRequest } from '@tollgate/transport';
import { hashMessage } from 'viem';

import type { LookUps } from '../limits/client-shares.js';
import { PaymentRefused } from '../refusals.js';
import { findPayments, type FoundPayments, type Payment, pairHashLocks } from './find-payments.js';

export interface Rules {
  policy: PaymentPolicy;
  confirmations: number;
  maxTimeoutSeconds: number;
  /** From the payment's block to its proof. */
  redemptionWindowMs: number;
  boundRedemptionWindowMs: number;
}

/** A payment that may be claimed if the ledger agrees. */
export interface JudgedPayment {
  id: PaymentId;
  payer: Hex;
  /** Null under policy `receipt`, which does not check transfers. */
  amountBaseUnits: bigint | null;
}

export interface TransactionJudgement {
  payments: JudgedPayment[];
  isBound: boolean;
  blockNumber: number;
  minedAtMs: number;
  windowMs: PaymentCandidate['windowMs'];
}

/** The gateway's clock stamps the challenge, a validator's clock the block: they may differ by this much. */
const CLOCK_SKEW_MS = 15_000;

/**
 * The rules for a transaction's hash, in order. Throws PaymentRefused at the first that fails, ChainUnavailableError
 * when the chain cannot decide.
 */
export async function judgePayment(
  request: VerifyPaymentRequest,
  sighting: Sighting,
  rules: Rules,
  chain: ChainReader,
  lookUps: LookUps,
): Promise<TransactionJudgement> {
  const { receipt, input } = assertMined(sighting);
  assertSucceeded(receipt);
  if (rules.policy === 'receipt') return judgeReceipt(request, receipt, chain);

  const { chainId, asset, payTo, reference } = request;
  const found = findPayments(receipt, { chainId, asset, payTo, leastBaseUnits: lowestPrice(request) });
  assertConfirmed(receipt.blockNumber, sighting.headBlockNumber, rules.confirmations);
  const readMinedAt = (): Promise<number> => chain.readBlockTime(receipt, request.deadlineMs);
  if (found.enough.length === 0) throw refuseTooLow(found.received, await readMinedAt());
  const opened = assertLockMatches(found, input, reference?.text);
  const { payments, isBound } = await assertBound(opened, request, rules.policy, { chain, lookUps });
  // A price from an earlier challenge is honoured if the payment is bound to that challenge.
  const priceBaseUnits = BigInt((isBound && reference ? reference : request).priceBaseUnits);
  const paid = payments.filter(({ amountBaseUnits }) => amountBaseUnits >= priceBaseUnits);
  const minedAtMs = await readMinedAt();
  const [first] = paid;
  if (first === undefined) throw refuseTooLow(payments, minedAtMs);
  if (isBound && reference) {
    const { isLocked } = opened;
    assertPaidInTime(first, minedAtMs, { ...reference, maxTimeoutSeconds: rules.maxTimeoutSeconds, isLocked });
  }
  return {
    payments: paid.map(({ id, from, amountBaseUnits }) => ({ id, payer: from, amountBaseUnits })),
    isBound,
    blockNumber: receipt.blockNumber,
    minedAtMs,
    windowMs: isBound ? rules.boundRedemptionWindowMs : rules.redemptionWindowMs,
  };
}

/** Policy `receipt`: rules 1-3 of the specification. The whole transaction is the payment, at any age. */
async function judgeReceipt(
  { chainId, txHash, deadlineMs }: VerifyPaymentRequest,
  receipt: Receipt,
  chain: ChainReader,
): Promise<TransactionJudgement> {
  return {
    payments: [{ id: { kind: 'transaction', chainId, txHash }, payer: receipt.from, amountBaseUnits: null }],
    isBound: false,
    blockNumber: receipt.blockNumber,
    minedAtMs: await chain.readBlockTime(receipt, deadlineMs),
    windowMs: null,
  };
}

/** The transaction must have a receipt (specification, verification rule 3). */
function assertMined({ mined }: Sighting): MinedTransaction {
  if (mined === null) throw new PaymentRefused('receipt_missing');
  return mined;
}

/** The receipt's status must be `success` (specification, verification rule 3). */
function assertSucceeded(receipt: Receipt): void {
  if (receipt.status !== 'success') throw new PaymentRefused('transaction_failed');
}

/** Checks the number of confirmations, the payment's own block included. */
export function assertConfirmed(blockNumber: number, headBlockNumber: number, confirmations: number): void {
  if (!isConfirmed(blockNumber, headBlockNumber, confirmations)) throw new PaymentRefused('not_confirmed');
}

export function isConfirmed(blockNumber: number, headBlockNumber: number, confirmations: number): boolean {
  return headBlockNumber - blockNumber + 1 >= confirmations;
}

interface OpenedPayments {
  payments: Payment[];
  /** They are locked to the reference; otherwise they carry no lock at all. */
  isLocked: boolean;
}

/**
 * Keeps the payments that the request may spend: those locked to its reference, otherwise those without a lock. Refuses
 * `lock_mismatch` when all are locked to something else.
 */
function assertLockMatches(found: FoundPayments, input: Hex, reference: string | undefined): OpenedPayments {
  const locks = findHashLocks(input);
  if (locks.length === 0) return { payments: found.enough, isLocked: false };

  const lockOf = pairHashLocks(found.received, locks);
  const matching = found.enough.filter((payment) => {
    const lock = lockOf.get(payment);
    return typeof lock === 'string' && reference !== undefined && matchesHashLock(lock, reference);
  });
  if (matching.length > 0) return { payments: matching, isLocked: true };
  const unlocked = found.enough.filter((payment) => !lockOf.has(payment));
  if (unlocked.length === 0) throw new PaymentRefused('lock_mismatch');
  return { payments: unlocked, isLocked: false };
}

/**
 * Binds payments without a lock by the payer's signature over reference and hash, if one is given. Refuses
 * `signature_invalid` when no payer made the signature, and under policy `bound` `not_bound` without lock and signature.
 */
async function assertBound(
  { payments, isLocked }: OpenedPayments,
  { reference, signature, txHash, deadlineMs }: VerifyPaymentRequest,
  policy: PaymentPolicy,
  contracts: AskedContracts,
): Promise<{ payments: Payment[]; isBound: boolean }> {
  if (isLocked) return { payments, isBound: true };
  if (reference !== undefined && signature !== undefined) {
    const payers = new Set(payments.map(({ from }) => from));
    const signers = await findSigners({ reference: reference.text, txHash, signature, deadlineMs }, payers, contracts);
    if (signers.size === 0) throw new PaymentRefused('signature_invalid');
    return { payments: payments.filter(({ from }) => signers.has(from)), isBound: true };
  }
  if (policy === 'bound') throw new PaymentRefused('not_bound');
  return { payments, isBound: false };
}

/**
 * Refuses `amount_too_low`: all of these payments are below the price. The first that moved money is recorded for a
 * refund; the others of its transaction are found when book and chain are compared.
 */
function refuseTooLow(payments: readonly Payment[], minedAtMs: number): PaymentRefused {
  const first = payments.find(({ amountBaseUnits }) => amountBaseUnits > 0n);
  if (first === undefined) return new PaymentRefused('amount_too_low');
  const { id, from, amountBaseUnits } = first;
  return new PaymentRefused('amount_too_low', { id, payer: from, amountBaseUnits, minedAtMs });
}

/**
 * A payment bound to a challenge must be mined within `maxTimeoutSeconds` of it (specification, "Limits"). Refuses
 * `payment_late`. The refusal is recorded for a refund only if a lock makes it final: without one the payer may sign
 * for another challenge and be served.
 */
function assertPaidInTime(
  payment: Payment,
  minedAtMs: number,
  { issuedAtMs, maxTimeoutSeconds, isLocked }: { issuedAtMs: number; maxTimeoutSeconds: number; isLocked: boolean },
): void {
  if (minedAtMs <= issuedAtMs + maxTimeoutSeconds * 1000 + CLOCK_SKEW_MS) return;
  if (!isLocked) throw new PaymentRefused('payment_late');
  const { id, from, amountBaseUnits } = payment;
  throw new PaymentRefused('payment_late', { id, payer: from, amountBaseUnits, minedAtMs });
}

function lowestPrice({ priceBaseUnits, reference }: VerifyPaymentRequest): bigint {
  const current = BigInt(priceBaseUnits);
  const givenOut = reference ? BigInt(reference.priceBaseUnits) : current;
  return givenOut < current ? givenOut : current;
}

export interface ProofSignature {
  reference: string;
  txHash: Hex;
  signature: Hex;
  deadlineMs: number;
}

/** The chain to ask contracts on, and the client share to charge. */
export interface AskedContracts {
  chain: Pick<ChainReader, 'isContractSignature'>;
  lookUps: LookUps;
}

/** A transaction may hold transfers of any number of payers; at most this many contracts are asked. */
const MAX_CONTRACTS = 4;

/** The payers that signed reference and transaction hash: an account by EIP-191, otherwise contracts by EIP-1271. */
async function findSigners(
  proof: ProofSignature,
  payers: ReadonlySet<Hex>,
  { chain, lookUps }: AskedContracts,
): Promise<ReadonlySet<Hex>> {
  const hash = hashMessage(proofMessage(proof.reference, proof.txHash));
  const account = recoverAccount(hash, proof.signature);
  if (account !== null && payers.has(account)) return new Set([account]);
  const asked = [...payers].slice(0, MAX_CONTRACTS);
  const answers = await Promise.all(
    asked.map((signer) =>
      chain.isContractSignature({ signer, hash, signature: proof.signature }, proof.deadlineMs, lookUps),
    ),
  );
  return new Set(asked.filter((_, index) => answers[index]));
}
