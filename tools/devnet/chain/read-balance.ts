import { decodeFunctionResult, encodeFunctionData, erc20Abi, type Hex } from 'viem';

import { callRpc } from '../processes/json-rpc.js';
import type { Devnet } from './chain.js';

/** How much of the devnet's USDC, or of another `asset`, an address holds, in base units. */
export async function readBalance(chain: Pick<Devnet, 'rpcUrl' | 'asset'>, address: Hex): Promise<bigint> {
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'balanceOf', args: [address] });
  const result = (await callRpc(chain.rpcUrl, 'eth_call', [{ to: chain.asset, data }, 'latest'])) as Hex;
  return decodeFunctionResult({ abi: erc20Abi, functionName: 'balanceOf', data: result });
}
