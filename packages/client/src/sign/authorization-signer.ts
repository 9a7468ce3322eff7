import {
  createAuthorizationTypedData,
  type Hex,
  type SignedAuthorization,
  type TransferAuthorization,
} from '@tollgate/protocol';
import { parseAbi, type LocalAccount, type PublicClient } from 'viem';

import { lookUp } from '../network/rpc-failure.js';

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
}

const abi = parseAbi(['function authorizationState(address authorizer, bytes32 nonce) view returns (bool)']);

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
    isExpired: (address, { from, nonce, validBefore }) =>
      lookUp('authorization', async () => {
        const { timestamp, number: blockNumber } = await client.getBlock({ blockTag: 'finalized' });
        if (timestamp < BigInt(validBefore)) return false;
        const args = [from, nonce] as const;
        return !(await client.readContract({ address, abi, functionName: 'authorizationState', args, blockNumber }));
      }),
  };
}
