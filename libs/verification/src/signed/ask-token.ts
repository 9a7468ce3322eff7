import {
  type AuthorizationQuestion,
  type AuthorizationView,
  type ChainReader,
  factoryOf,
  type PayerSignature,
  planTransfer,
  readPayerSignature,
  type SettlementRoute,
  splitSignature,
} from '@tollgate/chain';
import { hashTransferAuthorization, type Hex, type SignedAuthorization } from '@tollgate/protocol';

import { assertMayAsk, planSignatureCheck, rememberAnswer } from './ask-of-contract.js';
import type { Judged, SignedPaymentRules } from './signed-judgement.js';
import type { WalletPayment } from './wallet-check.js';

interface AskedToken {
  signature: PayerSignature;
  question: AuthorizationQuestion;
  view: AuthorizationView;
}

/**
 * Reads the state of the payment, and finds out whose signature it has. A signature of an account's form is first put
 * to the token as such: if that would settle, the token has accepted it, and recovering the key here, the most
 * expensive step, would add nothing.
 */
export async function askToken(
  judged: Judged<SignedAuthorization>,
  rules: SignedPaymentRules,
  chain: ChainReader,
): Promise<AskedToken> {
  const { payment } = judged;
  const supposed = splitSignature(payment.signature);
  const asked = supposed && (await ask(judged, rules, chain, supposed));
  if (asked?.view.wouldSettle && !asked.view.isNonceTaken) return asked;
  const signer = { hash: hashOf(judged), payer: payment.authorization.from, factories: rules.factories };
  const signature = readPayerSignature(payment.signature, signer);
  return asked && signature.kind === 'account' ? asked : ask(judged, rules, chain, signature);
}

async function ask(
  judged: Judged<SignedAuthorization>,
  rules: SignedPaymentRules,
  chain: ChainReader,
  signature: PayerSignature,
): Promise<AskedToken> {
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
export function describeWallet(
  signature: PayerSignature,
  { route, deployingRoute }: AuthorizationQuestion,
  { payerCode, hasPayerCode }: AuthorizationView,
): WalletPayment {
  const { settlement } = hasPayerCode ? route : (deployingRoute ?? route);
  return { payerCode, factory: factoryOf(signature), settlement };
}

function hashOf({ payment, domainSeparator }: Judged<SignedAuthorization>): Hex {
  return hashTransferAuthorization(payment.authorization, domainSeparator);
}

function planQuestion(
  judged: Judged<SignedAuthorization>,
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
