import type { Hex } from '@tollgate/protocol';
import { decodeFunctionResult } from 'viem';

import { bundleCalls, multicall3Abi, type ContractCall } from '../../authorizations/contract-call.js';
import type { PayerSignature } from '../../authorizations/payer-signature.js';
import { encodeIsValidSignature, isYes } from '../../chain/contract-signature.js';
import type { PermitView } from '../../chain/permit-view.js';
import { PaymentRefused } from '../payment-refused.js';

/**
 * The payer made the signature: his key, or his contract says so (EIP-1271). Refuses `signature_invalid`, and
 * `factory_not_allowed` where the contract is missing and would have to be deployed by somebody unknown.
 */
export function assertSignature(
  signature: PayerSignature,
  { hasPayerCode, signatureAnswer }: Pick<PermitView, 'hasPayerCode' | 'signatureAnswer'>,
): void {
  if (signature.kind === 'account') return;
  if (!hasPayerCode && signature.deployment === null) {
    throw new PaymentRefused(signature.isWrapped ? 'factory_not_allowed' : 'signature_invalid');
  }
  const answer = hasPayerCode || signatureAnswer === null ? signatureAnswer : readLastResult(signatureAnswer);
  if (answer === null || !isYes(answer)) throw new PaymentRefused('signature_invalid');
}

/**
 * The call whose answer `assertSignature` reads, by whether the payer has code; null where his key has signed.
 */
export function planSignatureCheck(
  signature: PayerSignature,
  { payer, hash, multicall3, isDeployed }: { payer: Hex; hash: Hex; multicall3: Hex; isDeployed: boolean },
): ContractCall | null {
  if (signature.kind === 'account') return null;
  const check = { to: payer, data: encodeIsValidSignature(hash, signature.bytes) };
  if (isDeployed || signature.deployment === null) return check;
  return bundleCalls(multicall3, [
    { ...signature.deployment, mayFail: true },
    { ...check, mayFail: true },
  ]);
}

function readLastResult(data: Hex): Hex | null {
  try {
    const results = decodeFunctionResult({ abi: multicall3Abi, functionName: 'aggregate3', data });
    return results.at(-1)?.returnData ?? null;
  } catch {
    // No Multicall3 on this chain: nobody is deployed through it.
    throw new PaymentRefused('factory_not_allowed');
  }
}
