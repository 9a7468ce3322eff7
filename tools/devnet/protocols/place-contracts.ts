import { getAddress, keccak256, toHex, type Hex } from 'viem';

import { readContracts } from '../contracts/contracts.js';
import { callRpc, callRpcBatch } from '../processes/json-rpc.js';
import { readMulticall3CreationCode, readPermit2Code } from './artifacts.js';

/** Where published x402 clients expect USDC on chain 1328. */
export const USDC_ADDRESS: Hex = '0x4fCF1784B31630811181f670Aea7A7bEF803eaED';
/** The token of 18 decimals without signed calls, the same on every devnet. */
export const WDEV_ADDRESS: Hex = getAddress(`0x${keccak256(toHex('tollgate devnet ether')).slice(-40)}`);
/** Where wallets and libraries expect them on every chain. */
export const MULTICALL3: Hex = '0xcA11bde05977b3631167028862bE2a173976CA11';
export const PERMIT2: Hex = '0x000000000022D473030F116dDEE9F6B43aC78BA3';
/** The spenders that payers name in Permit2 signatures. */
export const EXACT_PROXY: Hex = '0x402085c248EeA27D92E8b30b2C58ed07f9E20001';
export const UPTO_PROXY: Hex = '0x4020A4f3b7b90ccA423B9fabCc0CE57C6C240002';

/** Puts USDC, WDEV, Multicall3, Permit2 and its proxies at their addresses, without a transaction. */
export async function placeContracts(rpcUrl: string): Promise<void> {
  const { Usdc, DevEther, ExactPermitProxy, UptoPermitProxy } = await readContracts();
  const creations = [
    [USDC_ADDRESS, Usdc.bytecode],
    [WDEV_ADDRESS, DevEther.bytecode],
    [MULTICALL3, readMulticall3CreationCode()],
    [EXACT_PROXY, ExactPermitProxy.bytecode],
    [UPTO_PROXY, UptoPermitProxy.bytecode],
  ] as const;
  const [permit2, ...codes] = await Promise.all([
    readPermit2Code(),
    // Running the creation code in a call gives the runtime code, immutables filled in.
    ...creations.map(([, data]) => callRpc(rpcUrl, 'eth_call', [{ data }, 'latest'])),
  ]);
  await callRpcBatch(rpcUrl, [
    { method: 'anvil_setCode', params: [PERMIT2, permit2] },
    ...creations.map(([address], index) => ({ method: 'anvil_setCode', params: [address, codes[index]] })),
  ]);
}
