import { randomBytes } from 'node:crypto';

import type { TransactionToSign } from '@tollgate/journal';
import type { Hex } from '@tollgate/protocol';
import { privateKeyToAddress } from 'viem/accounts';

import type { DevnetAccount } from '../../tools/devnet/chain/chain.js';
import { callRpc } from '../../tools/devnet/processes/json-rpc.js';

const GWEI = 10n ** 9n;
export const RECEIVER: Hex = '0x00000000000000000000000000000000000a11ce';
export const TRANSFER_GAS = 21_000n;

/** A new wallet with plenty of native coin. */
export async function createBenchWallet(rpcUrl: string): Promise<DevnetAccount> {
  const privateKey: Hex = `0x${randomBytes(32).toString('hex')}`;
  const address = privateKeyToAddress(privateKey).toLowerCase() as Hex;
  await callRpc(rpcUrl, 'anvil_setBalance', [address, `0x${(10n ** 24n).toString(16)}`]);
  return { privateKey, address };
}

/** The transfer of one wei that every sender makes. */
export function createTransfer(chainId: number, nonce: number): TransactionToSign {
  return {
    chainId,
    nonce,
    to: RECEIVER,
    data: '0x',
    value: 1n,
    gas: TRANSFER_GAS,
    maxFeePerGas: 10n * GWEI,
    maxPriorityFeePerGas: GWEI,
  };
}
