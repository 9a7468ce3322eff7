import { getAddress, getContractAddress, keccak256, numberToHex, toHex, type Address, type Hex } from 'viem';

import { callRpc, callRpcBatch } from '../processes/json-rpc.js';

/**
 * Creates and owns the protocols. A hash cut to 20 bytes: no one has its key, so no one else can take its addresses.
 */
export const DEPLOYER = getAddress(`0x${keccak256(toHex('tollgate devnet deployer')).slice(-40)}`);

/** A transaction of the deployer; without `to` it creates a contract. */
export interface DeployerCall {
  to?: Address;
  data: Hex;
  valueWei?: bigint;
}

// Below the most that one transaction may take (2^24), above the largest creation.
const GAS_PER_CALL = numberToHex(12_000_000);
const BALANCE_WEI = 10n ** 27n;

/** Where the deployer's creation with this nonce lands. */
export function createdAddress(nonce: number): Address {
  return getContractAddress({ from: DEPLOYER, nonce: BigInt(nonce) });
}

/** Throws when the deployer has sent anything, because its contracts would land at other addresses. */
export async function assertDeployerIsFresh(rpcUrl: string): Promise<void> {
  const count = (await callRpc(rpcUrl, 'eth_getTransactionCount', [DEPLOYER, 'latest'])) as Hex;
  if (count !== '0x0')
    throw new Error(`the deployer's nonce is ${Number(count)}: the protocols are on this chain already`);
}

/**
 * Sends the calls as the deployer, in order, in one block if blocks are not made by time. Throws when one is not mined
 * with success, saying which. Not for two callers of one chain at the same time.
 */
export async function sendAsDeployer(rpcUrl: string, calls: readonly DeployerCall[]): Promise<void> {
  const [count, isAutomine] = (await callRpcBatch(rpcUrl, [
    { method: 'eth_getTransactionCount', params: [DEPLOYER, 'latest'] },
    { method: 'anvil_getAutomine', params: [] },
    { method: 'anvil_impersonateAccount', params: [DEPLOYER] },
    { method: 'anvil_setBalance', params: [DEPLOYER, numberToHex(BALANCE_WEI)] },
  ])) as [Hex, boolean];
  if (isAutomine) await callRpc(rpcUrl, 'evm_setAutomine', [false]);
  const hashes = await callRpcBatch(
    rpcUrl,
    calls.map(({ to, data, valueWei = 0n }, index) => ({
      method: 'eth_sendTransaction',
      params: [
        {
          from: DEPLOYER,
          ...(to === undefined ? {} : { to }),
          nonce: numberToHex(Number(count) + index),
          gas: GAS_PER_CALL,
          value: numberToHex(valueWei),
          data,
        },
      ],
    })),
  );
  await callRpc(rpcUrl, 'evm_mine');
  if (isAutomine) await callRpc(rpcUrl, 'evm_setAutomine', [true]);
  await callRpc(rpcUrl, 'anvil_stopImpersonatingAccount', [DEPLOYER]);
  await assertSucceeded(rpcUrl, hashes as Hex[]);
}

async function assertSucceeded(rpcUrl: string, hashes: Hex[]): Promise<void> {
  const receipts = (await callRpcBatch(
    rpcUrl,
    hashes.map((hash) => ({ method: 'eth_getTransactionReceipt', params: [hash] })),
  )) as ({ status: Hex } | null)[];
  const failed = receipts.findIndex((receipt) => receipt?.status !== '0x1');
  if (failed !== -1) throw new Error(`call ${failed} of the deployer was not mined with success (${hashes[failed]})`);
}
