import { randomBytes } from 'node:crypto';

import {
  AUTHORIZATION_TYPES,
  type Hex,
  type SignedAuthorization,
  type TransferAuthorization,
} from '@tollgate/protocol';
import { encodeFunctionData, hashTypedData, parseAbi } from 'viem';
import { sign, signTypedData } from 'viem/accounts';

import type { Devnet } from '../../../tools/devnet/chain/chain.js';
import { sendTransaction } from '../../../tools/devnet/chain/transfer-tokens.js';

export interface TestDomain {
  name: string;
  version: string;
  chainId: number;
  verifyingContract: Hex;
}

const TYPES = {
  ...AUTHORIZATION_TYPES,
  CancelAuthorization: [
    { name: 'authorizer', type: 'address' },
    { name: 'nonce', type: 'bytes32' },
  ],
} as const;

const WITH_BYTES = parseAbi([
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes signature)',
  'function cancelAuthorization(address authorizer, bytes32 nonce, bytes signature)',
]);

/** The payload that published clients sign: made with viem here, to compare our own hash with another one. */
export async function signAuthorization(
  authorization: TransferAuthorization,
  { domain, privateKey }: { domain: TestDomain; privateKey: Hex },
): Promise<SignedAuthorization> {
  const signature = await sign({ hash: hashTypedDataOf(authorization, domain), privateKey, to: 'hex' });
  return { kind: 'authorization', authorization, signature };
}

/** Sends the authorization, as any account can that has seen it. */
export function submitAuthorization(devnet: Devnet, payment: SignedAuthorization): Promise<Hex> {
  return sendTransaction(devnet, {
    from: devnet.accounts[7]?.address,
    to: devnet.asset,
    data: bytesCallOf(payment),
  });
}

/** The call that moves the authorization, with its signature as bytes, as contract wallets need it. */
export function bytesCallOf({ authorization, signature }: SignedAuthorization): Hex {
  const { from, to, nonce } = authorization;
  const [value, validAfter, validBefore] = numbersOf(authorization);
  return encodeFunctionData({
    abi: WITH_BYTES,
    functionName: 'transferWithAuthorization',
    args: [from, to, value, validAfter, validBefore, nonce, signature],
  });
}

/** Invalidates the nonce, as only its payer can. */
export async function cancelAuthorization(
  devnet: Devnet,
  { from, nonce }: TransferAuthorization,
  { domain, privateKey }: { domain: TestDomain; privateKey: Hex },
): Promise<Hex> {
  const signature = await signTypedData({
    domain,
    types: TYPES,
    primaryType: 'CancelAuthorization',
    message: { authorizer: from, nonce },
    privateKey,
  });
  const data = encodeFunctionData({
    abi: WITH_BYTES,
    functionName: 'cancelAuthorization',
    args: [from, nonce, signature],
  });
  return sendTransaction(devnet, { from: devnet.accounts[7]?.address, to: devnet.asset, data });
}

export const randomNonce = (): Hex => `0x${randomBytes(32).toString('hex')}`;

function hashTypedDataOf(authorization: TransferAuthorization, domain: TestDomain): Hex {
  const [value, validAfter, validBefore] = numbersOf(authorization);
  const message = { ...authorization, value, validAfter, validBefore };
  return hashTypedData({ domain, types: TYPES, primaryType: 'TransferWithAuthorization', message });
}

function numbersOf({ value, validAfter, validBefore }: TransferAuthorization): [bigint, bigint, bigint] {
  return [BigInt(value), BigInt(validAfter), BigInt(validBefore)];
}
