import {
  type CallPlace,
  chainMethods,
  type ChainReader,
  LATEST,
  type PayerSignature,
  type PaymentUse,
  type UnsettledView,
  type TriedCall,
} from '@tollgate/chain';
import { signedPaymentId } from '@tollgate/ledger';
import { payerOf, validityOf, type Hex, type SignedPayment } from '@tollgate/protocol';
import { StoreUnavailableError } from '@tollgate/redis';
import type { SignedPaymentTerms } from '@tollgate/transport';

import { verificationMethods } from '../methods/registry.js';
import type { VerificationMethod } from '../methods/verification-method.js';
import { PaymentRefused } from '../refusals.js';
import { assertConfirmed } from '../transactions/transaction-rules.js';
import type { Judged, JudgingRules, PromisedPayment, SignedJudgement, SignedPaymentRules } from './signed-judgement.js';

/**
 * The rules for a signed payment, in order; its method knows what was signed and how the chain is asked. Throws
 * PaymentRefused at the first that fails, ChainUnavailableError when the chain cannot decide.
 */
export async function judgeSignedPayment(
  judged: Judged,
  rules: JudgingRules,
  chain: ChainReader,
): Promise<SignedJudgement> {
  const { terms, payment, nowMs, validForMs, deadlineMs } = judged;
  const { priceBaseUnits } = terms;
  const method = verificationMethods.of(payment);
  const window = validityOf(payment);
  method.assertTerms(payment, terms);
  // A settled payment is served even after its expiry, so only one that expired before the ledger's memory is refused
  // here.
  assertValidityWindow(window, nowMs, -rules.memoryMs);
  const isSettledHere = await assertFacilitator(payment, rules);

  const barring = readIsBarred(payerOf(payment), rules);
  const { signature, view, settlement, factory } = await method.look(judged, rules, chain);
  const balance = assertAssetHasCode(view);
  assertSignature(signature, view);
  if (view.isNonceTaken) return judgeSettled(judged, view, rules, chain);
  if (!isSettledHere) throw new PaymentRefused('facilitator_mismatch');
  // Its code runs in the settlement, and may behave differently from one block to the next.
  const isWallet = signature.kind === 'contract' || view.hasPayerCode;
  let place: CallPlace;
  try {
    assertValidityWindow(window, nowMs, validForMs);
    assertFunds(balance, priceBaseUnits);
    assertApproved(method, view, terms);
    place = await findPlace(view, settlement, { validAfter: window.validAfter, isWallet }, judged, chain);
    await assertNotBarred(barring);
    if (isWallet) {
      const { payerCode } = view;
      await rules.wallets.assertAccepted({ payerCode, factory, terms, settlement, place }, judged);
    }
  } catch (error) {
    if (!(error instanceof PaymentRefused)) throw error;
    // It may have been settled during these checks and have failed for that alone: a payer that has paid must not be
    // asked to pay again.
    const nonce = chainMethods.of(payment).askForNonceOf(payment, terms.asset);
    const again = await chain.readNonce(nonce, deadlineMs);
    if (!again.isTaken) throw error;
    return judgeSettled(judged, again, rules, chain);
  }
  const { headBlockNumber } = view;
  const unsent = { ...promisedBy(judged), settlement: null, headBlockNumber };
  if (!method.isCounted) return unsent;
  // A settlement takes an earlier simulation for one in the newest block.
  const simulation =
    isWallet || place !== LATEST ? {} : { simulation: { atMs: nowMs, balanceBaseUnits: balance.toString() } };
  return { ...unsent, balanceBaseUnits: balance, ...simulation };
}

async function judgeSettled(
  judged: Judged,
  { headBlockNumber }: Pick<UnsettledView, 'headBlockNumber'>,
  rules: JudgingRules,
  chain: ChainReader,
): Promise<SignedJudgement> {
  const { terms, payment, nowMs, deadlineMs, lookUps } = judged;
  const { asset, payTo } = terms;
  const lookUp = {
    promised: { asset, payTo, payment },
    sent: await rules.readSent(),
    asker: lookUps,
    sinceMs: nowMs - rules.memoryMs,
    deadlineMs,
  };
  const promised = promisedBy(judged);
  const use = await chainMethods.of(payment).findUse(chain, lookUp, headBlockNumber);
  const settlement = assertSettled(use, promised);
  assertConfirmed(settlement.blockNumber, headBlockNumber, rules.confirmations);
  const { amountBaseUnits } = settlement;
  const head = Math.max(headBlockNumber, settlement.blockNumber);
  return { ...promised, amountBaseUnits, settlement, headBlockNumber: head };
}

/** The rules hold the signed amount to the price: it is that, or under scheme `upto` at least that. */
function promisedBy({ terms, payment }: Judged): PromisedPayment {
  return {
    id: signedPaymentId(terms, payment),
    payer: payerOf(payment),
    amountBaseUnits: BigInt(terms.priceBaseUnits),
  };
}

/**
 * The settlement that took the nonce: the payer has paid, whichever account sent it. Refuses `authorization_cancelled`,
 * `payment_used` when the nonce went into another payment, and what the method says, with a record for a refund, when the
 * money may have been moved by this payment.
 */
function assertSettled(use: PaymentUse, payment: PromisedPayment): PaymentUse & { outcome: 'settled' } {
  switch (use.outcome) {
    case 'settled':
      return use;
    case 'cancelled':
      throw new PaymentRefused('authorization_cancelled');
    case 'used':
      throw new PaymentRefused('payment_used');
    case 'doubtful':
      throw new PaymentRefused(use.failure, { ...payment, ...use.facts });
  }
}

/**
 * Where the payer names the one account that can send the payment: whether it is one of the relayers here. Refuses
 * `facilitator_mismatch` when it is none and never was: what another account sent may be less than what was used. A
 * relayer that has been removed since may have settled the payment.
 */
async function assertFacilitator(payment: SignedPayment, { readRelayers, readSent }: JudgingRules): Promise<boolean> {
  const sender = chainMethods.of(payment).senderOf(payment);
  if (sender === null || (await readRelayers()).has(sender)) return true;
  const { txHashes, job } = await readSent();
  if (txHashes.length === 0 && job !== 'forgotten') throw new PaymentRefused('facilitator_mismatch');
  return false;
}

/**
 * The payment must be valid now and for `leftMs` more; refuses `authorization_not_yet_valid` and
 * `authorization_expired`. A negative `leftMs` accepts it for that long after its expiry.
 */
function assertValidityWindow(
  { validAfter, validBefore }: { validAfter: string; validBefore: string },
  nowMs: number,
  leftMs: number,
): void {
  const now = BigInt(Math.floor(nowMs));
  if (BigInt(validAfter) * 1000n > now) throw new PaymentRefused('authorization_not_yet_valid');
  if (BigInt(validBefore) * 1000n < now + BigInt(leftMs)) throw new PaymentRefused('authorization_expired');
}

/** A token must answer at the asset's address; refuses `asset_has_no_code`. Returns the payer's balance. */
function assertAssetHasCode({ balanceBaseUnits }: Pick<UnsettledView, 'balanceBaseUnits'>): bigint {
  if (balanceBaseUnits === null) throw new PaymentRefused('asset_has_no_code');
  return balanceBaseUnits;
}

/**
 * The signature must be the payer's, by its key or by its contract's answer (EIP-1271). Refuses `signature_invalid`,
 * and `factory_not_allowed` when the contract is missing and may not be deployed.
 */
function assertSignature(
  signature: PayerSignature,
  { hasPayerCode, signatureAnswer }: Pick<UnsettledView, 'hasPayerCode' | 'signatureAnswer'>,
): void {
  if (signature.kind === 'account') return;
  if (!hasPayerCode && signature.deployment === null) {
    throw new PaymentRefused(signature.isWrapped ? 'factory_not_allowed' : 'signature_invalid');
  }
  // No Multicall3 on this chain that could call the factory, or another contract in the factory's place.
  if (!hasPayerCode && signatureAnswer === 'no_deployer') throw new PaymentRefused('factory_not_allowed');
  if (signatureAnswer !== 'yes') throw new PaymentRefused('signature_invalid');
}

/** The payer must have the amount; refuses `balance_too_low`. */
function assertFunds(balanceBaseUnits: bigint, amountBaseUnits: string): void {
  if (balanceBaseUnits < BigInt(amountBaseUnits)) throw new PaymentRefused('balance_too_low');
}

/** The payer must have approved what the method's contract moves; refuses with the method's own failure. */
function assertApproved({ approval }: VerificationMethod, view: UnsettledView, terms: SignedPaymentTerms): void {
  if (approval !== null && !approval.covers(view, terms)) throw new PaymentRefused(approval.failure);
}

/**
 * Whether nothing is sent for the payer for now. Started beside the questions to the chain, so that it takes no time of
 * its own. @throws StoreUnavailableError
 */
function readIsBarred(payer: Hex, { strikes }: Pick<SignedPaymentRules, 'strikes'>): Promise<boolean> {
  const barring = strikes.findBarred([payer]).then(
    (barred) => barred.has(payer),
    (cause: unknown) => {
      throw new StoreUnavailableError('ledger', 'Redis did not return how many payments of a payer have failed.', {
        cause,
      });
    },
  );
  // A payment that an earlier rule decides about does not await it.
  barring.catch(() => undefined);
  return barring;
}

/**
 * Nothing would be sent for a payer whose payments have failed on the chain too often; refuses `settlement_failed` before
 * a resource is made for it. One that a relayer has sent before is reviewed then. @throws StoreUnavailableError
 */
async function assertNotBarred(barring: Promise<boolean>): Promise<void> {
  if (await barring) throw new PaymentRefused('settlement_failed');
}

/**
 * The token must accept the very call that settles the payment; refuses `simulation_failed`. Returns where it does: while
 * the newest block is older than the start of the payment's validity, that block cannot. @throws ChainUnavailableError
 */
async function findPlace(
  { wouldSettle }: Pick<UnsettledView, 'wouldSettle'>,
  settlement: TriedCall,
  { validAfter, isWallet }: { validAfter: string; isWallet: boolean },
  { nowMs, deadlineMs, lookUps }: Pick<Judged, 'nowMs' | 'deadlineMs' | 'lookUps'>,
  chain: ChainReader,
): Promise<CallPlace> {
  if (wouldSettle) return LATEST;
  if (isWallet) lookUps.assertLeft();
  const start = { validAfter, nowMs };
  const place = await chain.tryLater(settlement, start, deadlineMs, isWallet ? lookUps : undefined);
  if (place === null) throw new PaymentRefused('simulation_failed');
  return place;
}
