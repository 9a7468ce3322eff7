import {
  createAuthorizationTypedData,
  type Hex,
  type SignedAuthorization,
  type TransferAuthorization,
} from '@tollgate/protocol';
import { parseAbi, type LocalAccount, type PublicClient } from 'viem';

import { lookUp } from './look-up.js';

/** A token and the EIP-712 domain that it says of itself. */
export interface SignedToken {
  asset: Hex;
  name: string;
  version: string;
}

/** Signs transfers that others send (EIP-3009), and looks what became of them. */
export interface AuthorizationSigner {
  sign(token: SignedToken, authorization: TransferAuthorization): Promise<SignedAuthorization>;
  /** True when it was not used until a final block that is past its end: no block to come can move it. */
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
