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

import type { LookUps } from '../client-shares.js';
import { askOfContract, planSignatureCheck } from './ask-of-contract.js';
import type { Judged, SignedPaymentRules } from './signed-judgement.js';
import type { WalletPayment } from './wallet-check.js';

/**
 * Reads the state of the payment, and finds out whose signature it has. A signature of an account's form is first put
 * to the token as such: if that would settle, the token has accepted it, and recovering the key here, the most
 * expensive step, would add nothing.
 */
export async function askToken(
  judged: Judged<SignedAuthorization>,
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
