import {
  type ChainReader,
  type PayerSignature,
  type PermitQuestion,
  planPermitTransfer,
  readPayerSignature,
} from '@tollgate/chain';
import { hashPermit2Transfer, type Hex, type SignedPermit } from '@tollgate/protocol';

import { assertMayAsk, planSignatureCheck, rememberAnswer } from './ask-of-contract.js';
import type { Judged, SignedPaymentRules } from './signed-judgement.js';

/** No wallet is deployed for a permit: a wallet that does not exist cannot have approved Permit2. */
const NO_FACTORIES: ReadonlySet<Hex> = new Set();

/**
 * Reads the state of the payment. A contract's signature is checked before the settlement is simulated, because the
 * revert data of the payer's code may be long.
 */
export async function askPermit2(judged: Judged<SignedPermit>, rules: SignedPaymentRules, chain: ChainReader) {
  const { payment, deadlineMs, lookUps } = judged;
  const { signature, hash, question } = planQuestion(judged, rules);
  const tried = { ...question, isTried: true };
  if (signature.kind === 'account') return { signature, question, view: await chain.readPermit(tried, deadlineMs) };
  const signed = { signer: question.owner, hash, signature: payment.signature };
  assertMayAsk(chain, lookUps, signed);
  const view = await chain.readPermit({ ...question, isTried: false }, deadlineMs, lookUps);
  rememberAnswer(chain, signed, view);
  if (view.signatureAnswer !== 'yes') return { signature, question, view };
  return { signature, question, view: await chain.readPermit(tried, deadlineMs, lookUps) };
}

function planQuestion({ terms, payment, domainSeparator }: Judged<SignedPermit>, rules: SignedPaymentRules) {
  const { from: owner, nonce } = payment.permit2Authorization;
  const hash = hashPermit2Transfer(payment, domainSeparator);
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
