import type { PaymentTrial, SignedPaymentTerms } from '@tollgate/common';
import { signedPaymentId } from '@tollgate/ledger';
import { hashTransferAuthorization, type Hex, type SignedAuthorization } from '@tollgate/protocol';

import { findAuthorizationUse, type AuthorizationLookUp } from '../../authorizations/find-authorization-use.js';
import { readPayerSignature, splitSignature, type PayerSignature } from '../../authorizations/payer-signature.js';
import { planTransfer } from '../../authorizations/plan-transfer.js';
import type { AuthorizationQuestion, AuthorizationView, SettlementRoute } from '../../chain/authorization-view.js';
import type { ChainReader } from '../../chain/chain-reader.js';
import { factoryOf } from '../../settlement/settlement-entry.js';
import { assertConfirmed } from '../assert-confirmed.js';
import type { LookUps } from '../client-shares.js';
import { PaymentRefused } from '../payment-refused.js';
import { askOfContract } from './ask-of-contract.js';
import { assertAssetHasCode } from './assert-asset-has-code.js';
import { assertBalance } from './assert-balance.js';
import { assertExactValue } from './assert-exact-value.js';
import { assertRecipient } from './assert-recipient.js';
import { assertSignature, planSignatureCheck } from './assert-signature.js';
import { assertSimulates } from './assert-simulates.js';
import { assertValidityWindow } from './assert-validity-window.js';
import { findSettlement, type PromisedPayment, type Settlement } from './find-settlement.js';
import type { WalletCheck, WalletPayment } from './wallet-check.js';

export interface SignedPaymentRules {
  confirmations: number;
  /** From the payment's block to its proof, for a payment that was already settled when it was shown. */
  redemptionWindowMs: number;
  /** How long the ledger remembers payments, and so how far back the chain is searched. */
  memoryMs: number;
  /** Gas that settling one payment may take. */
  settleGasCap: number;
  /** Contracts that may be called to deploy a payer's wallet (EIP-6492), in lower case. */
  factories: ReadonlySet<Hex>;
  /** Makes those calls. */
  multicall3: Hex;
  /** The further checks for payers with code. */
  wallets: Pick<WalletCheck, 'assertAccepted'>;
}

/** A signed payment that may be claimed if the ledger agrees. */
export interface SignedJudgement extends PromisedPayment {
  /** Null when the payment has not been sent yet. */
  settlement: Settlement | null;
  headBlockNumber: number;
  /** The payer's balance, for an authorization that has not been sent. */
  balanceBaseUnits?: bigint;
  /** Omitted when settling the payment requires a new simulation in any case. */
  trial?: PaymentTrial;
}

export interface JudgedAuthorization {
  terms: SignedPaymentTerms;
  payment: SignedAuthorization;
  domainSeparator: Hex;
  nowMs: number;
  deadlineMs: number;
  lookUps: LookUps;
}

/** An authorization must stay valid this long, to leave time to settle it. */
export const TIME_TO_SETTLE_MS = 6_000;

/**
 * Applies the rules in order. Throws PaymentRefused at the first that fails, ChainUnavailableError when the chain
 * cannot decide.
 */
export async function judgeAuthorization(
  judged: JudgedAuthorization,
  rules: SignedPaymentRules,
  chain: ChainReader,
): Promise<SignedJudgement> {
  const { terms, payment, nowMs, deadlineMs } = judged;
  const { authorization } = payment;
  assertRecipient(authorization, terms.payTo);
  assertExactValue(authorization, terms.priceBaseUnits);
  // A settled payment is served even after its expiry, so only one that expired before the ledger's memory is refused
  // here.
  assertValidityWindow(authorization, nowMs, -rules.memoryMs);

  const { signature, question, view } = await askToken(judged, rules, chain);
  const balance = assertAssetHasCode(view);
  assertSignature(signature, view);
  if (view.isNonceTaken) return judgeSettled(judged, view, rules, chain);
  try {
    assertValidityWindow(authorization, nowMs, TIME_TO_SETTLE_MS);
    assertBalance(balance, authorization.value);
    assertSimulates(view);
    await rules.wallets.assertAccepted(describeWallet(signature, question, view), judged);
  } catch (error) {
    if (!(error instanceof PaymentRefused)) throw error;
    // It may have been settled during these checks and have failed for that alone: a payer that has paid must not be
    // asked to pay again.
    const again = await chain.readNonce(question, deadlineMs);
    if (!again.isTaken) throw error;
    return judgeSettled(judged, again, rules, chain);
  }
  // The behaviour of a payer's code may change from one block to the next.
  const isSimple = signature.kind === 'account' && !view.hasPayerCode;
  const trial = isSimple ? { trial: { atMs: nowMs, balanceBaseUnits: balance.toString() } } : {};
  const { headBlockNumber } = view;
  return { ...promisedBy(judged), settlement: null, headBlockNumber, balanceBaseUnits: balance, ...trial };
}

/**
 * Reads the state of the payment, and finds out whose signature it has. A signature of an account's form is first put
 * to the token as such: if that would settle, the token has accepted it, and recovering the key here, the most
 * expensive step, would add nothing.
 */
async function askToken(
  judged: JudgedAuthorization,
  rules: SignedPaymentRules,
  chain: ChainReader,
): Promise<{ signature: PayerSignature; question: AuthorizationQuestion; view: AuthorizationView }> {
  const { payment, deadlineMs } = judged;
  const ask = async (signature: PayerSignature) => {
    const question = planQuestion(judged, rules, signature);
    const read = (asker?: LookUps) => chain.readAuthorization(question, deadlineMs, asker);
    if (signature.kind === 'account') return { signature, question, view: await read() };
    const signed = { signer: payment.authorization.from, hash: hashOf(judged), signature: payment.signature };
    return { signature, question, view: await askOfContract({ chain, lookUps: judged.lookUps }, signed, read) };
  };
  const supposed = splitSignature(payment.signature);
  const asked = supposed && (await ask(supposed));
  if (asked?.view.wouldSettle && !asked.view.isNonceTaken) return asked;
  const signer = { hash: hashOf(judged), payer: payment.authorization.from, factories: rules.factories };
  const signature = await readPayerSignature(payment.signature, signer);
  return asked && signature.kind === 'account' ? asked : ask(signature);
}

function describeWallet(
  signature: PayerSignature,
  { route, deployingRoute }: AuthorizationQuestion,
  { payerCode, hasPayerCode }: AuthorizationView,
): WalletPayment {
  const { settlement } = hasPayerCode ? route : (deployingRoute ?? route);
  return { payerCode, factory: factoryOf({ signature }), settlement };
}

function hashOf({ payment, domainSeparator }: JudgedAuthorization): Hex {
  return hashTransferAuthorization(payment.authorization, domainSeparator);
}

function planQuestion(
  judged: JudgedAuthorization,
  { multicall3, settleGasCap }: SignedPaymentRules,
  signature: PayerSignature,
): AuthorizationQuestion {
  const { terms, payment } = judged;
  const { authorization } = payment;
  const { from: payer, nonce } = authorization;
  const signed = signature.kind === 'contract' ? { payer, hash: hashOf(judged), signature } : null;
  const planRoute = (isDeployed: boolean): SettlementRoute => {
    const check = signed && planSignatureCheck(signed, { multicall3, isDeployed });
    return {
      settlement: {
        ...planTransfer(authorization, signature, { asset: terms.asset, multicall3, isDeployed }),
        gas: settleGasCap,
      },
      signatureCheck: check,
    };
  };
  const mayDeploy = signature.kind === 'contract' && signature.deployment !== null;
  return {
    asset: terms.asset,
    payer,
    nonce,
    route: planRoute(true),
    deployingRoute: mayDeploy ? planRoute(false) : null,
  };
}

async function judgeSettled(
  judged: JudgedAuthorization,
  { headBlockNumber }: Pick<AuthorizationView, 'headBlockNumber'>,
  rules: SignedPaymentRules,
  chain: ChainReader,
): Promise<SignedJudgement> {
  const { terms, payment, nowMs, deadlineMs } = judged;
  const lookUp: AuthorizationLookUp = {
    promised: { asset: terms.asset, payTo: terms.payTo, authorization: payment.authorization },
    sinceMs: nowMs - rules.memoryMs,
    deadlineMs,
  };
  const promised = promisedBy(judged);
  const settlement = findSettlement(await findAuthorizationUse(chain, lookUp, headBlockNumber), promised);
  assertConfirmed(settlement.blockNumber, headBlockNumber, rules.confirmations);
  return { ...promised, settlement, headBlockNumber: Math.max(headBlockNumber, settlement.blockNumber) };
}

function promisedBy({ terms, payment }: JudgedAuthorization): PromisedPayment {
  const { from, value } = payment.authorization;
  return { id: signedPaymentId(terms, payment), payer: from, amountBaseUnits: BigInt(value) };
}
