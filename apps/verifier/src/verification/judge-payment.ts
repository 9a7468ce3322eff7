import type { PaymentPolicy, VerifyPaymentRequest } from '@tollgate/common';
import type { PaymentCandidate, PaymentId } from '@tollgate/ledger';
import type { Hex } from '@tollgate/protocol';

import type { ChainReader, Sighting } from '../chain/chain-reader.js';
import type { Receipt } from '../chain/receipt.js';
import { assertBound } from './assert-bound.js';
import { assertConfirmed } from './assert-confirmed.js';
import { assertLockMatches } from './assert-lock-matches.js';
import { assertMined } from './assert-mined.js';
import { assertPaidInTime } from './assert-paid-in-time.js';
import { assertPricePaid } from './assert-price-paid.js';
import { assertSucceeded } from './assert-succeeded.js';
import type { LookUps } from './client-shares.js';
import { findPayments } from './find-payments.js';

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

export interface Judgement {
  payments: JudgedPayment[];
  isBound: boolean;
  blockNumber: number;
  minedAtMs: number;
  windowMs: PaymentCandidate['windowMs'];
}

/**
 * Applies the rules in order. Throws PaymentRefused at the first that fails, ChainUnavailableError when the chain
 * cannot decide.
 */
export async function judgePayment(
  request: VerifyPaymentRequest,
  sighting: Sighting,
  rules: Rules,
  chain: ChainReader,
  lookUps: LookUps,
): Promise<Judgement> {
  const { receipt, input } = assertMined(sighting);
  assertSucceeded(receipt);
  if (rules.policy === 'receipt') return judgeReceipt(request, receipt, chain);

  const { chainId, asset, payTo, reference } = request;
  const found = findPayments(receipt, { chainId, asset, payTo, leastBaseUnits: lowestPrice(request) });
  assertConfirmed(receipt.blockNumber, sighting.headBlockNumber, rules.confirmations);
  const opened = assertLockMatches(found, input, reference?.text);
  const { payments, isBound } = await assertBound(opened, request, rules.policy, { chain, lookUps });
  // A price from an earlier challenge is honoured if the payment is bound to that challenge.
  const paid = assertPricePaid(payments, BigInt((isBound && reference ? reference : request).priceBaseUnits));
  const minedAtMs = await chain.readBlockTime(receipt, request.deadlineMs);
  if (isBound && reference) {
    const { isLocked } = opened;
    assertPaidInTime(paid[0], minedAtMs, { ...reference, maxTimeoutSeconds: rules.maxTimeoutSeconds, isLocked });
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
): Promise<Judgement> {
  return {
    payments: [{ id: { kind: 'transaction', chainId, txHash }, payer: receipt.from, amountBaseUnits: null }],
    isBound: false,
    blockNumber: receipt.blockNumber,
    minedAtMs: await chain.readBlockTime(receipt, deadlineMs),
    windowMs: null,
  };
}

function lowestPrice({ priceBaseUnits, reference }: VerifyPaymentRequest): bigint {
  const current = BigInt(priceBaseUnits);
  const givenOut = reference ? BigInt(reference.priceBaseUnits) : current;
  return givenOut < current ? givenOut : current;
}
