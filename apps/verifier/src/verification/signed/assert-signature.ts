import type { Hex } from '@tollgate/protocol';

import { bundleCalls } from '../../authorizations/contract-call.js';
import type { PayerSignature } from '../../authorizations/payer-signature.js';
import { askForSignature } from '../../chain/contract-signature.js';
import type { PermitView } from '../../chain/permit-view.js';
import type { RpcCall } from '../../chain/rpc-endpoint.js';
import { PaymentRefused } from '../payment-refused.js';

export interface SignedByPayer {
  payer: Hex;
  hash: Hex;
  signature: PayerSignature;
}

/**
 * The signature must be the payer's, by its key or by its contract's answer (EIP-1271). Refuses `signature_invalid`,
 * and `factory_not_allowed` when the contract is missing and its factory is not on the list.
 */
export function assertSignature(
  signature: PayerSignature,
  { hasPayerCode, signatureAnswer }: Pick<PermitView, 'hasPayerCode' | 'signatureAnswer'>,
): void {
  if (signature.kind === 'account') return;
  if (!hasPayerCode && signature.deployment === null) {
    throw new PaymentRefused(signature.isWrapped ? 'factory_not_allowed' : 'signature_invalid');
  }
  // No Multicall3 on this chain, so no wallet can be deployed through it.
  if (!hasPayerCode && signatureAnswer === 'no_deployer') throw new PaymentRefused('factory_not_allowed');
  if (signatureAnswer !== 'yes') throw new PaymentRefused('signature_invalid');
}

/** The call whose answer `assertSignature` reads, depending on whether the payer has code; null when its key signed. */
export function planSignatureCheck(
  { payer, hash, signature }: SignedByPayer,
  { multicall3, isDeployed }: { multicall3: Hex; isDeployed: boolean },
): RpcCall | null {
  if (signature.kind === 'account') return null;
  const check = { signer: payer, hash, signature: signature.bytes };
  if (isDeployed || signature.deployment === null) return askForSignature(check);
  return askForSignature(check, bundleCalls(multicall3, [{ ...signature.deployment, mayFail: true }]));
}
