import {
  askAboutAuthorization,
  type AuthorizationQuestion,
  type ChainReader,
  type DeployingRoute,
  deploymentOf,
  type PayerSignature,
  planTransfer,
  readPayerSignature,
  type SettlementRoute,
  splitSignature,
} from '@tollgate/chain';
import { hashTransferAuthorization, type Hex, type SignedAuthorization } from '@tollgate/protocol';

import { assertMayAsk, planSignatureCheck, rememberAnswer } from '../ask-for-signature.js';
import { assertExactAmount, assertRecipient } from '../terms-rules.js';
import type { Looked, SettlingRules, PaymentToJudge, VerificationMethod } from '../verification-method.js';

export const eip3009Rules: VerificationMethod<SignedAuthorization> = {
  kind: 'authorization',
  isOfTokenDomain: true,
  isCounted: true,
  assertTerms({ authorization: { to, value } }, { payTo, priceBaseUnits }) {
    assertRecipient(to, payTo);
    assertExactAmount(value, priceBaseUnits);
  },
  look: askToken,
  approval: null,
};

/**
 * Reads the state of the payment, and finds out whose signature it has. A signature of an account's form is first put
 * to the token as such: if that would settle, the token has accepted it, and recovering the key here, the most
 * expensive step, would add nothing.
 */
async function askToken(
  shown: PaymentToJudge<SignedAuthorization>,
  rules: SettlingRules,
  chain: ChainReader,
): Promise<Looked> {
  const { payment } = shown;
  const supposed = splitSignature(payment.signature);
  const asked = supposed && (await ask(shown, rules, chain, supposed));
  if (asked?.view.wouldSettle && !asked.view.isNonceTaken) return asked;
  const signer = {
    hash: hashOf(shown),
    payer: payment.authorization.from,
    factories: rules.deployments.factoriesFor(shown.terms),
  };
  const signature = readPayerSignature(payment.signature, signer);
  return asked && signature.kind === 'account' ? asked : ask(shown, rules, chain, signature);
}

async function ask(
  shown: PaymentToJudge<SignedAuthorization>,
  rules: SettlingRules,
  chain: ChainReader,
  signature: PayerSignature,
): Promise<Looked> {
  const { payment, deadlineMs, lookUps } = shown;
  const question = planQuestion(shown, rules, signature);
  const asked = askAboutAuthorization(question);
  const { route, deployingRoute } = question;
  const factory = deployingRoute?.deployment.to ?? null;
  if (signature.kind === 'account') {
    const view = await chain.ask(asked, deadlineMs);
    return { signature, view, settlement: route.settlement, factory };
  }
  const signed = { signer: question.payer, hash: hashOf(shown), signature: payment.signature };
  assertMayAsk(chain, lookUps, signed);
  const view = await chain.ask(asked, deadlineMs, lookUps);
  rememberAnswer(chain, signed, view);
  const { settlement } = view.hasPayerCode ? route : (deployingRoute ?? route);
  return { signature, view, settlement, factory };
}

function hashOf({ payment, domainSeparator }: PaymentToJudge<SignedAuthorization>): Hex {
  return hashTransferAuthorization(payment.authorization, domainSeparator);
}

function planQuestion(
  shown: PaymentToJudge<SignedAuthorization>,
  { multicall3, settleGasCap, deployments }: SettlingRules,
  signature: PayerSignature,
): AuthorizationQuestion {
  const { terms, payment } = shown;
  const { authorization } = payment;
  const { from: payer, nonce } = authorization;
  const signed = signature.kind === 'contract' ? { payer, hash: hashOf(shown), signature } : null;
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
