import {
  type ChainReader,
  describeDoubtfulUse,
  findPermitUse,
  NO_FACTORIES,
  type PayerSignature,
  type PermitLookUp,
  type PermitQuestion,
  type PermitUse,
  type PermitView,
  planPermitTransfer,
  PROXIES,
  readPayerSignature,
} from '@tollgate/chain';
import { hashPermit2Transfer, type Hex, type Permit2Authorization, type SignedPermit } from '@tollgate/protocol';

import { PaymentRefused } from '../refusals.js';
import { assertConfirmed } from '../transactions/transaction-rules.js';
import {
  assertAssetHasCode,
  assertFunds,
  assertExactValue,
  assertNotBarred,
  assertRecipient,
  assertSignature,
  assertValidityWindow,
  findPlace,
  readIsBarred,
  promisedBy,
} from './authorization-rules.js';
import { assertMayAsk, planSignatureCheck, rememberAnswer } from './contract-signatures.js';
import type { Judged, JudgingRules, PromisedPayment, SignedJudgement, SignedPaymentRules } from './signed-judgement.js';

export interface PermitRules extends JudgingRules {
  /** The accounts that settle here, in lower case. */
  readRelayers: () => Promise<ReadonlySet<Hex>>;
}

/**
 * The rules for a Permit2 permit, in order. Throws PaymentRefused at the first that fails, ChainUnavailableError when
 * the chain cannot decide.
 */
export async function judgePermit(
  judged: Judged<SignedPermit>,
  rules: PermitRules,
  chain: ChainReader,
): Promise<SignedJudgement> {
  const { terms, payment, nowMs, validForMs, deadlineMs } = judged;
  const { permit2Authorization } = payment;
  const window = { validAfter: permit2Authorization.witness.validAfter, validBefore: permit2Authorization.deadline };
  assertAsset(permit2Authorization, terms.asset);
  assertSpender(payment);
  assertRecipient(permit2Authorization.witness, terms.payTo);
  assertPermittedValue(payment, terms.priceBaseUnits);
  // A settled payment is served even after its expiry, so only one that expired before the ledger's memory is refused
  // here.
  assertValidityWindow(window, nowMs, -rules.memoryMs);
  const isSettledHere = await assertFacilitator(payment, rules);

  const barring = readIsBarred(permit2Authorization.from, rules);
  const { signature, question, view } = await askPermit2(judged, rules, chain);
  assertPermit2(view);
  const balance = assertAssetHasCode(view);
  assertSignature(signature, view);
  if (view.isNonceTaken) return judgeSettled(judged, view, rules, chain);
  if (!isSettledHere) throw new PaymentRefused('facilitator_mismatch');
  try {
    assertValidityWindow(window, nowMs, validForMs);
    assertFunds(balance, terms.priceBaseUnits);
    assertAllowance(view, terms.priceBaseUnits);
    const { settlement } = question;
    const { payerCode, hasPayerCode: isWallet } = view;
    const place = await findPlace(view, settlement, { validAfter: window.validAfter, isWallet }, judged, chain);
    await assertNotBarred(barring);
    const { priceBaseUnits } = terms;
    if (isWallet)
      await rules.wallets.assertAccepted({ payerCode, factory: null, priceBaseUnits, settlement, place }, judged);
  } catch (error) {
    if (!(error instanceof PaymentRefused)) throw error;
    // It may have been settled during these checks and have failed for that alone: a payer that has paid must not be
    // asked to pay again.
    const again = await chain.readPermitNonce(question, deadlineMs);
    if (!again.isTaken) throw error;
    return judgeSettled(judged, again, rules, chain);
  }
  return { ...promisedBy(judged), settlement: null, headBlockNumber: view.headBlockNumber };
}

async function judgeSettled(
  judged: Judged<SignedPermit>,
  { headBlockNumber }: Pick<PermitView, 'headBlockNumber'>,
  rules: PermitRules,
  chain: ChainReader,
): Promise<SignedJudgement> {
  const { terms, payment, nowMs, deadlineMs, lookUps } = judged;
  const lookUp: PermitLookUp = {
    promised: { asset: terms.asset, payTo: terms.payTo, payment },
    sent: await rules.readSent(),
    asker: lookUps,
    sinceMs: nowMs - rules.memoryMs,
    deadlineMs,
  };
  const promised = promisedBy(judged);
  const settlement = assertSettled(await findPermitUse(chain, lookUp, headBlockNumber), promised);
  assertConfirmed(settlement.blockNumber, headBlockNumber, rules.confirmations);
  const { amountBaseUnits } = settlement;
  const head = Math.max(headBlockNumber, settlement.blockNumber);
  return { ...promised, amountBaseUnits, settlement, headBlockNumber: head };
}

/**
 * Reads the state of the payment. A contract's signature is checked before the settlement is simulated, because the
 * revert data of the payer's code may be long.
 */
async function askPermit2(judged: Judged<SignedPermit>, rules: SignedPaymentRules, chain: ChainReader) {
  const { payment, deadlineMs, lookUps } = judged;
  const { signature, hash, question } = planQuestion(judged, rules);
  const simulated = { ...question, isSimulated: true };
  if (signature.kind === 'account') return { signature, question, view: await chain.readPermit(simulated, deadlineMs) };
  const signed = { signer: question.owner, hash, signature: payment.signature };
  assertMayAsk(chain, lookUps, signed);
  const view = await chain.readPermit({ ...question, isSimulated: false }, deadlineMs, lookUps);
  rememberAnswer(chain, signed, view);
  if (view.signatureAnswer !== 'yes') return { signature, question, view };
  return { signature, question, view: await chain.readPermit(simulated, deadlineMs, lookUps) };
}

function planQuestion({ terms, payment, domainSeparator }: Judged<SignedPermit>, rules: SignedPaymentRules) {
  const { from: owner, nonce } = payment.permit2Authorization;
  const hash = hashPermit2Transfer(payment, domainSeparator);
  // No wallet is deployed for a permit: a wallet that does not exist cannot have approved Permit2.
  const signature = readPayerSignature(payment.signature, { hash, payer: owner, factories: NO_FACTORIES });
  const { multicall3 } = rules;
  const signatureCheck = planSignatureCheck({ payer: owner, hash, signature }, { multicall3, isDeployed: true });
  const sender = payment.scheme === 'upto' ? { from: payment.permit2Authorization.witness.facilitator } : {};
  const settlement = planPermitTransfer({ ...payment, signature: bytesOf(signature) }, BigInt(terms.priceBaseUnits));
  const question: PermitQuestion = {
    owner,
    nonce,
    token: terms.asset,
    settlement: { ...settlement, ...sender, gas: rules.settleGasCap },
    signatureCheck,
  };
  return { signature, hash, question };
}

function bytesOf(signature: PayerSignature): Hex {
  if (signature.kind !== 'account') return signature.bytes;
  const { v, r, s } = signature;
  return `0x${r.slice(2)}${s.slice(2)}${v.toString(16)}`;
}

/** The payer must have signed for the requested token; refuses `asset_mismatch`. */
function assertAsset({ permitted }: Permit2Authorization, asset: Hex): void {
  if (permitted.token !== asset) throw new PaymentRefused('asset_mismatch');
}

/**
 * The payer must have named the scheme's proxy as spender, since only the proxy enforces the signed recipient; refuses
 * `spender_mismatch`.
 */
function assertSpender({ scheme, permit2Authorization }: SignedPermit): void {
  if (permit2Authorization.spender !== PROXIES[scheme]) throw new PaymentRefused('spender_mismatch');
}

/**
 * The signed amount must be exactly the price under scheme `exact` (`amount_mismatch`), and at least the price under
 * `upto`, where only what was used is moved (`amount_too_low`).
 */
function assertPermittedValue({ scheme, permit2Authorization }: SignedPermit, priceBaseUnits: string): void {
  const { amount } = permit2Authorization.permitted;
  if (scheme === 'exact') assertExactValue({ value: amount }, priceBaseUnits);
  else if (BigInt(amount) < BigInt(priceBaseUnits)) throw new PaymentRefused('amount_too_low');
}

/**
 * Under scheme `upto` the payer names the one account that can send the permit: whether it is one of the relayers here.
 * Refuses `facilitator_mismatch` when it is none and never was: what another account sent may be less than what was used.
 * A relayer that has been removed since may have settled the permit.
 */
async function assertFacilitator(payment: SignedPermit, { readRelayers, readSent }: PermitRules): Promise<boolean> {
  if (payment.scheme !== 'upto') return true;
  const relayers = await readRelayers();
  if (relayers.has(payment.permit2Authorization.witness.facilitator)) return true;
  const { txHashes, job } = await readSent();
  if (txHashes.length === 0 && job !== 'forgotten') throw new PaymentRefused('facilitator_mismatch');
  return false;
}

/** Permit2 and the scheme's proxy must exist on this chain; refuses `permit2_missing`. */
function assertPermit2({ isNonceTaken, hasProxy }: Pick<PermitView, 'isNonceTaken' | 'hasProxy'>): void {
  if (isNonceTaken === null || !hasProxy) throw new PaymentRefused('permit2_missing');
}

/** Permit2's allowance from the payer must cover the price; refuses `permit2_allowance_missing`. */
function assertAllowance({ allowanceBaseUnits }: Pick<PermitView, 'allowanceBaseUnits'>, priceBaseUnits: string): void {
  if (allowanceBaseUnits === null || allowanceBaseUnits < BigInt(priceBaseUnits)) {
    throw new PaymentRefused('permit2_allowance_missing');
  }
}

/**
 * Refuses `payment_used`. It is recorded for a refund when the money may have been moved by this permit: it was found but
 * the way it was sent leaves a doubt, or it was not found where it might be.
 */
function assertSettled(use: PermitUse, payment: PromisedPayment): PermitUse & { outcome: 'settled' } {
  if (use.outcome === 'settled') return use;
  throw new PaymentRefused(
    'payment_used',
    use.outcome === 'used' ? undefined : { ...payment, ...describeDoubtfulUse(use) },
  );
}
