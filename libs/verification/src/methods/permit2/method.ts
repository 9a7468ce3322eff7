import {
  askAboutPermit,
  chainMethods,
  type ChainReader,
  NO_FACTORIES,
  type PayerSignature,
  type PermitQuestion,
  type PermitView,
  planPermitTransfer,
  PROXIES,
  readPayerSignature,
} from '@tollgate/chain';
import {
  hashPermit2Domain,
  hashPermit2Transfer,
  type Hex,
  type Permit2Authorization,
  type SignedPermit,
} from '@tollgate/protocol';

import { PaymentRefused } from '../../refusals.js';
import { assertMayAsk, planSignatureCheck, rememberAnswer } from '../ask-for-signature.js';
import { assertExactAmount, assertRecipient } from '../terms-rules.js';
import type { Looked, SettlingRules, PaymentToJudge, VerificationMethod } from '../verification-method.js';

export const permit2Rules: VerificationMethod<SignedPermit, PermitView> = {
  kind: 'permit2',
  isOfTokenDomain: false,
  isCounted: false,
  assertTerms(payment, { asset, payTo, priceBaseUnits }) {
    const { permit2Authorization } = payment;
    assertAsset(permit2Authorization, asset);
    assertSpender(payment);
    assertRecipient(permit2Authorization.witness.to, payTo);
    assertPermittedValue(payment, priceBaseUnits);
  },
  async look(shown, rules, chain) {
    const looked = await askPermit2(shown, rules, chain);
    assertPermit2(looked.view);
    return looked;
  },
  approval: {
    failure: 'permit2_allowance_missing',
    /** Permit2's allowance from the payer must cover the price. */
    covers({ allowanceBaseUnits }, { priceBaseUnits }) {
      return allowanceBaseUnits !== null && allowanceBaseUnits >= BigInt(priceBaseUnits);
    },
  },
};

/**
 * Reads the state of the payment. A contract's signature is checked before the settlement is simulated, because the
 * revert data of the payer's code may be long.
 */
async function askPermit2(
  shown: PaymentToJudge<SignedPermit>,
  rules: SettlingRules,
  chain: ChainReader,
): Promise<Looked<PermitView>> {
  const { payment, deadlineMs, lookUps } = shown;
  const { signature, hash, question } = planQuestion(shown, rules);
  const looked = { signature, settlement: question.settlement, factory: null };
  const simulated = askAboutPermit(question, { isSimulated: true });
  if (signature.kind === 'account') return { ...looked, view: await chain.ask(simulated, deadlineMs) };
  const signed = { signer: question.owner, hash, signature: payment.signature };
  assertMayAsk(chain, lookUps, signed);
  const view = await chain.ask(askAboutPermit(question, { isSimulated: false }), deadlineMs, lookUps);
  rememberAnswer(chain, signed, view);
  if (view.signatureAnswer !== 'yes') return { ...looked, view };
  return { ...looked, view: await chain.ask(simulated, deadlineMs, lookUps) };
}

function planQuestion({ terms, payment }: PaymentToJudge<SignedPermit>, rules: SettlingRules) {
  const { from: owner, nonce } = payment.permit2Authorization;
  const hash = hashPermit2Transfer(payment, hashPermit2Domain(terms.chainId));
  // No wallet is deployed for a permit: a wallet that does not exist cannot have approved Permit2.
  const signature = readPayerSignature(payment.signature, { hash, payer: owner, factories: NO_FACTORIES });
  const { multicall3 } = rules;
  const signatureCheck = planSignatureCheck({ payer: owner, hash, signature }, { multicall3, isDeployed: true });
  const from = chainMethods.of(payment).senderOf(payment);
  const settlement = planPermitTransfer({ ...payment, signature: bytesOf(signature) }, BigInt(terms.priceBaseUnits));
  const question: PermitQuestion = {
    owner,
    nonce,
    token: terms.asset,
    settlement: { ...settlement, ...(from && { from }), gas: rules.settleGasCap },
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
  if (scheme === 'exact') assertExactAmount(amount, priceBaseUnits);
  else if (BigInt(amount) < BigInt(priceBaseUnits)) throw new PaymentRefused('amount_too_low');
}

/** Permit2 and the scheme's proxy must exist on this chain; refuses `permit2_missing`. */
function assertPermit2({ isNonceTaken, hasProxy }: Pick<PermitView, 'isNonceTaken' | 'hasProxy'>): void {
  if (isNonceTaken === null || !hasProxy) throw new PaymentRefused('permit2_missing');
}
