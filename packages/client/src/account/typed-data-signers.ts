import {
  createAuthorizationTypedData,
  createPermit2TypedData,
  PERMIT2_ADDRESS,
  type Hex,
  type PaymentToSign,
  type Permit2Transfer,
  type SignedAuthorization,
  type SignedPermit,
  type TransferAuthorization,
} from '@tollgate/protocol';
import { erc20Abi, parseAbi, type LocalAccount, type PublicClient } from 'viem';

import { lookUp } from '../network/rpc-failure.js';
import { readTokenDomain } from './read-token-domain.js';

/** A token, and the EIP-712 domain given for it. */
export interface SignedToken {
  asset: Hex;
  name: string;
  version: string;
}

/** Signs EIP-3009 authorizations, which the server or its facilitator submits, and reads their state. */
export interface AuthorizationSigner {
  sign(token: SignedToken, authorization: TransferAuthorization): Promise<SignedAuthorization>;
  /** True when a final block past the end of its validity shows that it was not used: it can never move tokens. */
  isExpired(asset: Hex, authorization: TransferAuthorization): Promise<boolean>;
  /**
   * The EIP-712 domain as the token states it; null if it states none, or one that authorizations cannot have.
   * @throws PaymentError `wallet_unavailable` when the chain cannot be read
   */
  readDomain(asset: Hex): Promise<Pick<SignedToken, 'name' | 'version'> | null>;
}

async function isVoid(...asked: Parameters<typeof readPaymentState>): Promise<boolean> {
  return (await readPaymentState(...asked)) === 'void';
}

export function createAuthorizationSigner(
  account: LocalAccount,
  client: PublicClient,
  chainId: number,
): AuthorizationSigner {
  return {
    sign: async (token, authorization) => {
      const signature = await account.signTypedData(createAuthorizationTypedData(authorization, { ...token, chainId }));
      return { kind: 'authorization', authorization, signature };
    },
    isExpired: (asset, authorization) =>
      lookUp('authorization', () => isVoid(client, { kind: 'authorization', token: { asset }, authorization })),
    readDomain: (asset) => lookUp('domain of the token', () => readTokenDomain(client, chainId, asset)),
  };
}

/** Signs transfers by Permit2, and reads their state and the allowance of Permit2. */
export interface PermitSigner {
  sign(transfer: Permit2Transfer): Promise<SignedPermit>;
  /** Permit2's allowance for the payer's tokens, in base units. */
  readAllowance(asset: Hex): Promise<bigint>;
  /** True when a final block past the end of its validity shows that it was not used: it can never move tokens. */
  isExpired(transfer: Permit2Transfer): Promise<boolean>;
}

export function createPermitSigner(account: LocalAccount, client: PublicClient, chainId: number): PermitSigner {
  return {
    sign: async (transfer) => {
      const signature = await account.signTypedData(createPermit2TypedData(transfer, chainId));
      return { kind: 'permit2', ...transfer, signature };
    },
    readAllowance: (address) =>
      lookUp('allowance', () => {
        const args = [account.address, PERMIT2_ADDRESS] as const;
        return client.readContract({ address, abi: erc20Abi, functionName: 'allowance', args });
      }),
    isExpired: (transfer) => lookUp('permit', () => isVoid(client, { kind: 'permit2', ...transfer })),
  };
}

const abi = parseAbi([
  'function authorizationState(address authorizer, bytes32 nonce) view returns (bool)',
  'function nonceBitmap(address owner, uint256 word) view returns (uint256)',
]);

/** The terms of a signed payment; of an authorization, with its token. */
type KnownTerms =
  | (Pick<Extract<PaymentToSign, { kind: 'authorization' }>, 'kind' | 'authorization'> & { token: { asset: Hex } })
  | Extract<PaymentToSign, { kind: 'permit2' }>;

/**
 * What a final block shows of a signed payment. `used`: it has moved tokens, or its payer has cancelled it. `void`: it was
 * not used and is past its end, so it can never move any. `open`: neither yet.
 * @throws what the client throws
 */
export async function readPaymentState(client: PublicClient, payment: KnownTerms): Promise<'open' | 'used' | 'void'> {
  const { timestamp, number: blockNumber } = await client.getBlock({ blockTag: 'finalized' });
  if (payment.kind === 'authorization') {
    const { from, nonce, validBefore } = payment.authorization;
    const call = { address: payment.token.asset, abi, functionName: 'authorizationState', blockNumber } as const;
    if (await client.readContract({ ...call, args: [from, nonce] })) return 'used';
    return timestamp < BigInt(validBefore) ? 'open' : 'void';
  }
  const { from, nonce, deadline } = payment.permit2Authorization;
  // A nonce is one bit of a 256-bit word.
  const call = { address: PERMIT2_ADDRESS, abi, functionName: 'nonceBitmap', blockNumber } as const;
  const word = await client.readContract({ ...call, args: [from, BigInt(nonce) >> 8n] });
  if ((word >> (BigInt(nonce) & 0xffn)) % 2n === 1n) return 'used';
  // Permit2 accepts it in a block of exactly that second.
  return timestamp <= BigInt(deadline) ? 'open' : 'void';
}
