import { callRpc } from '../processes/json-rpc.js';

/** Moves the chain's clock on and makes a block at the new time. */
export async function passTime({ rpcUrl }: { rpcUrl: string }, seconds: number): Promise<void> {
  await callRpc(rpcUrl, 'evm_increaseTime', [seconds]);
  await callRpc(rpcUrl, 'evm_mine');
}
