import {
  createAuthorizationTypedData,
  type Hex,
  type SignedAuthorization,
  type TransferAuthorization,
} from '@tollgate/protocol';
import { parseAbi, type LocalAccount, type PublicClient } from 'viem';

import { lookUp } from '../network/rpc-failure.js';
import { readStateOf } from './payment-state.js';
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
      lookUp('authorization', async () => {
        const isUsed = (block: bigint) => isAuthorizationUsed(client, asset, authorization, block);
        return (await readStateOf(client, { kind: 'authorization', authorization }, isUsed)) === 'void';
      }),
    readDomain: (asset) => lookUp('domain of the token', () => readTokenDomain(client, chainId, asset)),
  };
}

const abi = parseAbi(['function authorizationState(address authorizer, bytes32 nonce) view returns (bool)']);

/** Whether the token has taken the nonce, for the transfer or because its payer cancelled it. */
export function isAuthorizationUsed(
  client: PublicClient,
  address: Hex,
  { from, nonce }: TransferAuthorization,
  blockNumber: bigint,
): Promise<boolean> {
  return client.readContract({ address, abi, functionName: 'authorizationState', args: [from, nonce], blockNumber });
}
