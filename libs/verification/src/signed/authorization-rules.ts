import {
  type AuthorizationLookUp,
  type AuthorizationQuestion,
  type AuthorizationUse,
  type AuthorizationView,
  type CallPlace,
  type ChainReader,
  type DeployingRoute,
  deploymentOf,
  findAuthorizationUse,
  LATEST,
  type PayerSignature,
  type PermitView,
  planTransfer,
  readPayerSignature,
  type SettlementRoute,
  splitSignature,
  type TriedCall,
} from '@tollgate/chain';
import { signedPaymentId } from '@tollgate/ledger';
import {
  hashTransferAuthorization,
  type Hex,
  type SignedAuthorization,
  type TransferAuthorization,
  payerOf,
  type SignedPayment,
} from '@tollgate/protocol';
import { StoreUnavailableError } from '@tollgate/redis';
import type { SignedPaymentTerms } from '@tollgate/transport';

import { PaymentRefused } from '../refusals.js';
import { assertConfirmed } from '../transactions/transaction-rules.js';
import { assertMayAsk, planSignatureCheck, rememberAnswer } from './contract-signatures.js';
import type {
  Judged,
  JudgingRules,
  PromisedPayment,
  SettlingTransaction,
  SignedJudgement,
  SignedPaymentRules,
} from './signed-judgement.js';
import type { WalletPayment } from './wallet-check.js';

/** A payment must stay valid this long at least, to leave time to settle it. */
export const TIME_TO_SETTLE_MS = 6_000;

/**
 * The rules for an EIP-3009 authorization, in order. Throws PaymentRefused at the first that fails,
 * ChainUnavailableError when the chain cannot decide.
 */
export async function judgeAuthorization(
  judged: Judged<SignedAuthorization>,
  rules: JudgingRules,
  chain: ChainReader,
): Promise<SignedJudgement> {
  const { terms, payment, nowMs, validForMs, deadlineMs } = judged;
  const { authorization } = payment;
  assertRecipient(authorization, terms.payTo);
  assertExactValue(authorization, terms.priceBaseUnits);
  // A settled payment is served even after its expiry, so only one that expired before the ledger's memory is refused
  // here.
  assertValidityWindow(authorization, nowMs, -rules.memoryMs);

  const barring = readIsBarred(payerOf(payment), rules);
  const { signature, question, view } = await askToken(judged, rules, chain);
  const balance = assertAssetHasCode(view);
  assertSignature(signature, view);
  if (view.isNonceTaken) return judgeSettled(judged, view, rules, chain);
  // Its code runs in the settlement, and may behave differently from one block to the next.
  const isWallet = signature.kind === 'contract' || view.hasPayerCode;
  const { settlement } = routeOf(question, view);
  let place: CallPlace;
  try {
    assertValidityWindow(authorization, nowMs, validForMs);
    assertFunds(balance, authorization.value);
    place = await findPlace(view, settlement, { validAfter: authorization.validAfter, isWallet }, judged, chain);
    await assertNotBarred(barring);
    if (isWallet) await rules.wallets.assertAccepted({ ...describeWallet(terms, question, view), place }, judged);
  } catch (error) {
    if (!(error instanceof PaymentRefused)) throw error;
    // It may have been settled during these checks and have failed for that alone: a payer that has paid must not be
    // asked to pay again.
    const again = await chain.readNonce(question, deadlineMs);
    if (!again.isTaken) throw error;
    return judgeSettled(judged, again, rules, chain);
  }
  // A settlement takes an earlier simulation for one in the newest block.
  const simulation =
    isWallet || place !== LATEST ? {} : { simulation: { atMs: nowMs, balanceBaseUnits: balance.toString() } };
  const { headBlockNumber } = view;
  return { ...promisedBy(judged), settlement: null, headBlockNumber, balanceBaseUnits: balance, ...simulation };
}

async function judgeSettled(
  judged: Judged<SignedAuthorization>,
  { headBlockNumber }: Pick<AuthorizationView, 'headBlockNumber'>,
  rules: JudgingRules,
  chain: ChainReader,
): Promise<SignedJudgement> {
  const { terms, payment, nowMs, deadlineMs, lookUps } = judged;
  const lookUp: AuthorizationLookUp = {
    promised: { asset: terms.asset, payTo: terms.payTo, authorization: payment.authorization },
    sent: await rules.readSent(),
    asker: lookUps,
    sinceMs: nowMs - rules.memoryMs,
    deadlineMs,
  };
  const promised = promisedBy(judged);
  const settlement = findSettlement(await findAuthorizationUse(chain, lookUp, headBlockNumber), promised);
  assertConfirmed(settlement.blockNumber, headBlockNumber, rules.confirmations);
  return { ...promised, settlement, headBlockNumber: Math.max(headBlockNumber, settlement.blockNumber) };
}

/** The rules hold the signed amount to the price: it is that, or under scheme `upto` at least that. */
export function promisedBy({ terms, payment }: Judged<SignedPayment>): PromisedPayment {
  return {
    id: signedPaymentId(terms, payment),
    payer: payerOf(payment),
    amountBaseUnits: BigInt(terms.priceBaseUnits),
  };
}

/** A note for the operator, to be read before a refund. */
const WHAT_FOR_IS_UNKNOWN = 'the nonce was used before the searched time range: it may have paid another recipient';

/**
 * The settlement that took the nonce: the payer has paid, whichever account sent it. Refuses `authorization_cancelled`,
 * `payment_used` when the nonce went into another payment, and, with a record for a refund, `payment_too_old` when the
 * transaction cannot be found any more.
 */
function findSettlement(use: AuthorizationUse, payment: PromisedPayment): SettlingTransaction {
  switch (use.outcome) {
    case 'settled':
      return use;
    case 'cancelled':
      throw new PaymentRefused('authorization_cancelled');
    case 'used':
      if (use.txHash !== null) throw new PaymentRefused('payment_used');
      throw new PaymentRefused('payment_too_old', { ...payment, detail: WHAT_FOR_IS_UNKNOWN });
  }
}

/**
 * Reads the state of the payment, and finds out whose signature it has. A signature of an account's form is first put
 * to the token as such: if that would settle, the token has accepted it, and recovering the key here, the most
 * expensive step, would add nothing.
 */
async function askToken(judged: Judged<SignedAuthorization>, rules: SignedPaymentRules, chain: ChainReader) {
  const { payment } = judged;
  const supposed = splitSignature(payment.signature);
  const asked = supposed && (await ask(judged, rules, chain, supposed));
  if (asked?.view.wouldSettle && !asked.view.isNonceTaken) return asked;
  const signer = {
    hash: hashOf(judged),
    payer: payment.authorization.from,
    factories: rules.deployments.factoriesFor(judged.terms),
  };
  const signature = readPayerSignature(payment.signature, signer);
  return asked && signature.kind === 'account' ? asked : ask(judged, rules, chain, signature);
}

async function ask(
  judged: Judged<SignedAuthorization>,
  rules: SignedPaymentRules,
  chain: ChainReader,
  signature: PayerSignature,
) {
  const { payment, deadlineMs, lookUps } = judged;
  const question = planQuestion(judged, rules, signature);
  if (signature.kind === 'account') {
    return { signature, question, view: await chain.readAuthorization(question, deadlineMs) };
  }
  const signed = { signer: question.payer, hash: hashOf(judged), signature: payment.signature };
  assertMayAsk(chain, lookUps, signed);
  const view = await chain.readAuthorization(question, deadlineMs, lookUps);
  rememberAnswer(chain, signed, view);
  return { signature, question, view };
}

/** The payer's code and the call that settles, for the further checks of contract wallets. */
function describeWallet(
  { priceBaseUnits }: SignedPaymentTerms,
  question: AuthorizationQuestion,
  view: AuthorizationView,
): Omit<WalletPayment, 'place'> {
  const { settlement } = routeOf(question, view);
  return {
    payerCode: view.payerCode,
    factory: question.deployingRoute?.deployment.to ?? null,
    priceBaseUnits,
    settlement,
  };
}

function routeOf(
  { route, deployingRoute }: AuthorizationQuestion,
  { hasPayerCode }: AuthorizationView,
): SettlementRoute {
  return hasPayerCode ? route : (deployingRoute ?? route);
}

function hashOf({ payment, domainSeparator }: Judged<SignedAuthorization>): Hex {
  return hashTransferAuthorization(payment.authorization, domainSeparator);
}

function planQuestion(
  judged: Judged<SignedAuthorization>,
  { multicall3, settleGasCap, deployments }: SignedPaymentRules,
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
        gas: isDeployed ? settleGasCap : deployments.gasCap,
      },
      signatureCheck: check,
    };
  };
  const deployment = deploymentOf(signature);
  const deployingRoute: DeployingRoute | null = deployment && { ...planRoute(false), deployment };
  return {
    asset: terms.asset,
    payer,
    nonce,
    route: planRoute(true),
    deployingRoute,
  };
}

/** The payer must have signed for the requested recipient; refuses `recipient_mismatch`. */
export function assertRecipient({ to }: Pick<TransferAuthorization, 'to'>, payTo: Hex): void {
  if (to !== payTo) throw new PaymentRefused('recipient_mismatch');
}

/** The signed amount must be exactly the price (scheme `exact`); refuses `amount_mismatch`. */
export function assertExactValue({ value }: Pick<TransferAuthorization, 'value'>, priceBaseUnits: string): void {
  if (BigInt(value) !== BigInt(priceBaseUnits)) throw new PaymentRefused('amount_mismatch');
}

/**
 * The payment must be valid now and for `leftMs` more; refuses `authorization_not_yet_valid` and
 * `authorization_expired`. A negative `leftMs` accepts it for that long after its expiry.
 */
export function assertValidityWindow(
  { validAfter, validBefore }: Pick<TransferAuthorization, 'validAfter' | 'validBefore'>,
  nowMs: number,
  leftMs: number,
): void {
  const now = BigInt(Math.floor(nowMs));
  if (BigInt(validAfter) * 1000n > now) throw new PaymentRefused('authorization_not_yet_valid');
  if (BigInt(validBefore) * 1000n < now + BigInt(leftMs)) throw new PaymentRefused('authorization_expired');
}

/** A token must answer at the asset's address; refuses `asset_has_no_code`. Returns the payer's balance. */
export function assertAssetHasCode({ balanceBaseUnits }: Pick<AuthorizationView, 'balanceBaseUnits'>): bigint {
  if (balanceBaseUnits === null) throw new PaymentRefused('asset_has_no_code');
  return balanceBaseUnits;
}

/**
 * The signature must be the payer's, by its key or by its contract's answer (EIP-1271). Refuses `signature_invalid`,
 * and `factory_not_allowed` when the contract is missing and may not be deployed.
 */
export function assertSignature(
  signature: PayerSignature,
  { hasPayerCode, signatureAnswer }: Pick<PermitView, 'hasPayerCode' | 'signatureAnswer'>,
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
export function assertFunds(balanceBaseUnits: bigint, value: string): void {
  if (balanceBaseUnits < BigInt(value)) throw new PaymentRefused('balance_too_low');
}

/**
 * Whether nothing is sent for the payer for now. Started beside the questions to the chain, so that it takes no time of
 * its own. @throws StoreUnavailableError
 */
export function readIsBarred(payer: Hex, { strikes }: Pick<SignedPaymentRules, 'strikes'>): Promise<boolean> {
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
export async function assertNotBarred(barring: Promise<boolean>): Promise<void> {
  if (await barring) throw new PaymentRefused('settlement_failed');
}

/**
 * The token must accept the very call that settles the payment; refuses `simulation_failed`. Returns where it does: while
 * the newest block is older than the start of the payment's validity, that block cannot. @throws ChainUnavailableError
 */
export async function findPlace(
  { wouldSettle }: Pick<AuthorizationView, 'wouldSettle'>,
  settlement: TriedCall,
  { validAfter, isWallet }: { validAfter: string; isWallet: boolean },
  { nowMs, deadlineMs, lookUps }: Pick<Judged<SignedPayment>, 'nowMs' | 'deadlineMs' | 'lookUps'>,
  chain: ChainReader,
): Promise<CallPlace> {
  if (wouldSettle) return LATEST;
  if (isWallet) lookUps.assertLeft();
  const start = { validAfter, nowMs };
  const place = await chain.tryLater(settlement, start, deadlineMs, isWallet ? lookUps : undefined);
  if (place === null) throw new PaymentRefused('simulation_failed');
  return place;
}
