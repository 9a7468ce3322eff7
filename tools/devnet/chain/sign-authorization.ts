import { randomBytes } from 'node:crypto';

import {
  createAuthorizationTypedData,
  type Hex,
  type SignedAuthorization,
  type TransferAuthorization,
} from '@tollgate/protocol';
import { privateKeyToAccount } from 'viem/accounts';

import type { Devnet, DevnetAccount } from './chain.js';

const VALID_SECONDS = 600;

/**
 * An EIP-3009 payment of the devnet's token as its payer would sign it. Default terms: to `payTo`, valid for
 * ten minutes from now, with a new nonce. A `from` that is not the signer is a contract that the signer signs for.
 */
export async function signAuthorization(
  chain: Pick<Devnet, 'chainId' | 'asset' | 'payTo'>,
  { privateKey, address }: DevnetAccount,
  terms: Partial<TransferAuthorization> & { value: string },
): Promise<SignedAuthorization> {
  const authorization: TransferAuthorization = {
    from: lower(address),
    to: lower(chain.payTo),
    validAfter: '0',
    validBefore: String(Math.floor(Date.now() / 1000) + VALID_SECONDS),
    nonce: `0x${randomBytes(32).toString('hex')}`,
    ...terms,
  };
  const { chainId, asset } = chain;
  const signature = await privateKeyToAccount(privateKey).signTypedData(
    createAuthorizationTypedData(authorization, { name: 'USDC', version: '2', chainId, asset }),
  );
  return { kind: 'authorization', authorization, signature };
}

function lower(address: Hex): Hex {
  return address.toLowerCase() as Hex;
}
