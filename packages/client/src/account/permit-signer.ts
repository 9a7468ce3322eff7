import {
  createPermit2TypedData,
  PERMIT2_ADDRESS,
  type Hex,
  type Permit2Transfer,
  type SignedPermit,
} from '@tollgate/protocol';
import { erc20Abi, parseAbi, type LocalAccount, type PublicClient } from 'viem';

import { lookUp } from '../network/rpc-failure.js';
import { readStateOf } from './payment-state.js';

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
    readAllowance: (asset) => lookUp('allowance', () => readPermitAllowance(client, account.address, asset)),
    isExpired: (transfer) =>
      lookUp('permit', async () => {
        const isUsed = (block: bigint) => isPermitUsed(client, transfer, block);
        return (await readStateOf(client, { kind: 'permit2', ...transfer }, isUsed)) === 'void';
      }),
  };
}

/** @throws what the client throws */
export function readPermitAllowance(client: PublicClient, owner: Hex, address: Hex): Promise<bigint> {
  return client.readContract({ address, abi: erc20Abi, functionName: 'allowance', args: [owner, PERMIT2_ADDRESS] });
}

const abi = parseAbi(['function nonceBitmap(address owner, uint256 word) view returns (uint256)']);

/** Whether Permit2 has taken the nonce, for this permit or for another one. */
export async function isPermitUsed(
  client: PublicClient,
  { permit2Authorization }: Permit2Transfer,
  blockNumber: bigint,
): Promise<boolean> {
  const { from } = permit2Authorization;
  const nonce = BigInt(permit2Authorization.nonce);
  // A nonce is one bit of a 256-bit word.
  const call = { address: PERMIT2_ADDRESS, abi, functionName: 'nonceBitmap', blockNumber } as const;
  const word = await client.readContract({ ...call, args: [from, nonce >> 8n] });
  return (word >> (nonce & 0xffn)) % 2n === 1n;
}
