import type { Hex, TransferAuthorization } from '@tollgate/protocol';

import { encodeAddress, encodeBytes, encodeNumber, WORD_BYTES } from '../../contracts/abi-encoding.js';
import type { ContractCall } from '../../contracts/contract-question.js';
import { bundleCalls } from '../../contracts/multicall3/bundle-calls.js';
import type { PayerSignature } from '../../contracts/payer-signature.js';

/** `transferWithAuthorization(address,address,uint256,uint256,uint256,bytes32,uint8,bytes32,bytes32)` */
const WITH_PARTS = '0xe3ee160e';
/** `transferWithAuthorization(address,address,uint256,uint256,uint256,bytes32,bytes)` */
const WITH_BYTES = '0xcf092995';
/** Six words of terms and the offset itself precede the signature. */
const SIGNATURE_OFFSET = 7 * WORD_BYTES;

type SentSignature = Extract<PayerSignature, { kind: 'account' }> | { kind: 'contract'; bytes: Hex };

/**
 * Plans the call that settles an authorization. The token is called with v, r and s for a payer's own key (the only
 * form some tokens know), with bytes for a contract. A wallet that is not deployed yet is deployed first, if its
 * factory is allowed. Multicall3 makes that call because it owns nothing that a malicious factory could take.
 * @param isDeployed whether the payer has code: calling a factory twice may burn all the gas
 */
export function planTransfer(
  authorization: TransferAuthorization,
  signature: PayerSignature,
  { asset, multicall3, isDeployed }: { asset: Hex; multicall3: Hex; isDeployed: boolean },
): ContractCall {
  const transfer = { to: asset, data: encodeTransfer(authorization, signature) };
  if (isDeployed || signature.kind === 'account' || signature.deployment === null) return transfer;
  return bundleCalls(multicall3, [
    { ...signature.deployment, mayFail: false },
    { ...transfer, mayFail: false },
  ]);
}

/** Whether calldata contains the authorization as it is sent to the token, at any byte. */
export function carriesAuthorization(input: Hex, authorization: TransferAuthorization): boolean {
  return input.includes(encodeTerms(authorization));
}

function encodeTerms({ from, to, value, validAfter, validBefore, nonce }: TransferAuthorization): string {
  const numbers = [value, validAfter, validBefore].map((amount) => encodeNumber(BigInt(amount)));
  return [encodeAddress(from), encodeAddress(to), ...numbers, nonce.slice(2)].join('');
}

/** The call of the token that makes the transfer. */
export function encodeTransfer(authorization: TransferAuthorization, signature: SentSignature): Hex {
  const terms = encodeTerms(authorization);
  if (signature.kind === 'account') {
    const { v, r, s } = signature;
    return `${WITH_PARTS}${terms}${encodeNumber(v)}${r.slice(2)}${s.slice(2)}`;
  }
  return `${WITH_BYTES}${terms}${encodeNumber(SIGNATURE_OFFSET)}${encodeBytes(signature.bytes)}`;
}
