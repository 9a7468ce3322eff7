import type { SignedPaymentTerms } from '@tollgate/common';
import { signedPaymentId } from '@tollgate/ledger';
import { hashPermit2Transfer, type Hex, type SignedPermit } from '@tollgate/protocol';

import { readPayerSignature, type PayerSignature } from '../../authorizations/payer-signature.js';
import type { ChainReader } from '../../chain/chain-reader.js';
import type { PermitQuestion, PermitView } from '../../chain/permit-view.js';
import { findPermitUse, SENT_BY_ANOTHER, type PermitLookUp, type PermitUse } from '../../permits/find-permit-use.js';
import { planPermitTransfer } from '../../permits/permit-proxy.js';
import { assertConfirmed } from '../assert-confirmed.js';
import type { LookUps } from '../client-shares.js';
import { PaymentRefused } from '../payment-refused.js';
import { askOfContract } from './ask-of-contract.js';
import { assertAllowance } from './assert-allowance.js';
import { assertAsset } from './assert-asset.js';
import { assertAssetHasCode } from './assert-asset-has-code.js';
import { assertBalance } from './assert-balance.js';
import { assertFacilitator } from './assert-facilitator.js';
import { assertPermit2 } from './assert-permit2.js';
import { assertPermittedValue } from './assert-permitted-value.js';
import { assertRecipient } from './assert-recipient.js';
import { assertSignature, planSignatureCheck } from './assert-signature.js';
import { assertSimulates } from './assert-simulates.js';
import { assertSpender } from './assert-spender.js';
import { assertValidityWindow } from './assert-validity-window.js';
import type { PromisedPayment } from './find-settlement.js';
import { TIME_TO_SETTLE_MS, type SignedJudgement, type SignedPaymentRules } from './judge-authorization.js';

export interface PermitRules extends SignedPaymentRules {
  /** The accounts that settle here, in lower case. */
  readRelayers: () => Promise<ReadonlySet<Hex>>;
}

export interface JudgedPermit {
  terms: SignedPaymentTerms;
  payment: SignedPermit;
  /** The domain separator of Permit2 on this chain. */
  domainSeparator: Hex;
  nowMs: number;
  deadlineMs: number;
  lookUps: LookUps;
}

/** No wallet is deployed for a permit: a wallet that does not exist cannot have approved Permit2. */
const NO_FACTORIES: ReadonlySet<Hex> = new Set();

/**
 * Applies the rules in order. Throws PaymentRefused at the first that fails, ChainUnavailableError when the chain
 * cannot decide.
 */
export async function judgePermit(
  judged: JudgedPermit,
  rules: PermitRules,
  chain: ChainReader,
): Promise<SignedJudgement> {
  const { terms, payment, nowMs, deadlineMs } = judged;
  const { permit2Authorization } = payment;
  const window = { validAfter: permit2Authorization.witness.validAfter, validBefore: permit2Authorization.deadline };
  assertAsset(permit2Authorization, terms.asset);
  assertSpender(payment);
  assertRecipient(permit2Authorization.witness, terms.payTo);
  assertPermittedValue(payment, terms.priceBaseUnits);
  // A settled payment is served even after its expiry, so only one that expired before the ledger's memory is refused
  // here.
  assertValidityWindow(window, nowMs, -rules.memoryMs);
  await assertFacilitator(payment, rules.readRelayers);

  const { signature, question, view } = await askPermit2(judged, rules, chain);
  assertPermit2(view);
  const balance = assertAssetHasCode(view);
  assertSignature(signature, view);
  if (view.isNonceTaken) return judgeSettled(judged, view, rules, chain);
  try {
    assertValidityWindow(window, nowMs, TIME_TO_SETTLE_MS);
    assertBalance(balance, terms.priceBaseUnits);
    assertAllowance(view, terms.priceBaseUnits);
    assertSimulates(view);
    const { settlement } = question;
    await rules.wallets.assertAccepted({ payerCode: view.payerCode, factory: null, settlement }, judged);
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

/**
 * A contract's signature is checked before the settlement is simulated, because the revert data of the payer's code may
 * be long.
 */
async function askPermit2(judged: JudgedPermit, rules: PermitRules, chain: ChainReader) {
  const { payment, deadlineMs, lookUps } = judged;
  const { signature, hash, question } = await planQuestion(judged, rules);
  const tried = { ...question, isTried: true };
  if (signature.kind === 'account') return { signature, question, view: await chain.readPermit(tried, deadlineMs) };
  const signed = { signer: question.owner, hash, signature: payment.signature };
  const view = await askOfContract({ chain, lookUps }, signed, (asker) =>
    chain.readPermit({ ...question, isTried: false }, deadlineMs, asker),
  );
  if (view.signatureAnswer !== 'yes') return { signature, question, view };
  return { signature, question, view: await chain.readPermit(tried, deadlineMs, lookUps) };
}

async function planQuestion({ terms, payment, domainSeparator }: JudgedPermit, rules: PermitRules) {
  const { from: owner, nonce } = payment.permit2Authorization;
  const hash = hashPermit2Transfer(payment, domainSeparator);
  const signature = await readPayerSignature(payment.signature, { hash, payer: owner, factories: NO_FACTORIES });
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

async function judgeSettled(
  judged: JudgedPermit,
  { headBlockNumber }: Pick<PermitView, 'headBlockNumber'>,
  rules: PermitRules,
  chain: ChainReader,
): Promise<SignedJudgement> {
  const { terms, payment, nowMs, deadlineMs } = judged;
  const lookUp: PermitLookUp = {
    promised: { asset: terms.asset, payTo: terms.payTo, payment },
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
 * Refuses `payment_used`. It is recorded for a refund when the money was found but the way it was sent leaves a doubt.
 */
function assertSettled(use: PermitUse, payment: PromisedPayment): PermitUse & { outcome: 'settled' } {
  if (use.outcome === 'settled') return use;
  if (use.outcome === 'used') throw new PaymentRefused('payment_used');
  const { amountBaseUnits, minedAtMs } = use;
  throw new PaymentRefused('payment_used', { ...payment, amountBaseUnits, minedAtMs, detail: SENT_BY_ANOTHER });
}

function bytesOf(signature: PayerSignature): Hex {
  if (signature.kind !== 'account') return signature.bytes;
  const { v, r, s } = signature;
  return `0x${r.slice(2)}${s.slice(2)}${v.toString(16)}`;
}

function promisedBy({ terms, payment }: JudgedPermit): PromisedPayment {
  const { from } = payment.permit2Authorization;
  return { id: signedPaymentId(terms, payment), payer: from, amountBaseUnits: BigInt(terms.priceBaseUnits) };
}
