import { getAddress, keccak256, toHex, type Hex } from 'viem';

import { readContracts } from '../contracts/contracts.js';
import { callRpc, callRpcBatch } from '../processes/json-rpc.js';
import { readMulticall3CreationCode } from './artifacts.js';
import { listProxyCreations, readSpender } from './permit-contracts.js';

/** Where published x402 clients expect USDC on chain 1328. */
export const USDC_ADDRESS: Hex = '0x4fCF1784B31630811181f670Aea7A7bEF803eaED';
/** The token of 18 decimals without signed calls, the same on every devnet. */
export const WDEV_ADDRESS: Hex = getAddress(`0x${keccak256(toHex('tollgate devnet ether')).slice(-40)}`);
/** Where wallets and libraries expect it on every chain. */
export const MULTICALL3: Hex = '0xcA11bde05977b3631167028862bE2a173976CA11';
export * from './permit-contracts.js';

/** Puts the tokens and the contracts that signed payments need at their addresses, without a transaction. */
export async function placeContracts(rpcUrl: string): Promise<void> {
  const { Usdc, DevEther } = await readContracts();
  const creations = [
    [USDC_ADDRESS, Usdc.bytecode],
    [WDEV_ADDRESS, DevEther.bytecode],
    [MULTICALL3, readMulticall3CreationCode()],
    ...(await listProxyCreations()),
  ] as const;
  // Running the creation code in a call gives the runtime code, immutables filled in.
  const run = async ([address, data]: (typeof creations)[number]) =>
    [address, await callRpc(rpcUrl, 'eth_call', [{ data }, 'latest'])] as const;
  const codes = await Promise.all([readSpender(), ...creations.map(run)]);
  await callRpcBatch(
    rpcUrl,
    codes.map((params) => ({ method: 'anvil_setCode', params: [...params] })),
  );
}
