import type { Hex, TransferAuthorization } from '@tollgate/protocol';
import { encodeFunctionData, parseAbi } from 'viem';

import { bundleCalls, type ContractCall } from './contract-call.js';
import type { PayerSignature } from './payer-signature.js';

// One ABI each: by the arguments alone the overloads are not told apart.
const withParts = parseAbi([
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)',
]);
const withBytes = parseAbi([
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes signature)',
]);

/**
 * The call that settles an authorization: the token's, by v, r and s for a payer's own key (all that some tokens know),
 * by bytes for a contract. One that is not deployed yet is deployed first, where that is allowed, by Multicall3: it owns
 * nothing that a factory could be told to take.
 * @param isDeployed whether the payer has code: a factory that is called twice may burn all gas
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

function encodeTransfer(authorization: TransferAuthorization, signature: PayerSignature): Hex {
  const { from, to, nonce } = authorization;
  const [value, validAfter, validBefore] = [
    BigInt(authorization.value),
    BigInt(authorization.validAfter),
    BigInt(authorization.validBefore),
  ];
  const functionName = 'transferWithAuthorization';
  if (signature.kind === 'account') {
    const { v, r, s } = signature;
    return encodeFunctionData({
      abi: withParts,
      functionName,
      args: [from, to, value, validAfter, validBefore, nonce, v, r, s],
    });
  }
  return encodeFunctionData({
    abi: withBytes,
    functionName,
    args: [from, to, value, validAfter, validBefore, nonce, signature.bytes],
  });
}
