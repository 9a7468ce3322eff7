import { callRpc } from '../../../tools/devnet/processes/json-rpc.js';
import { waitFor } from '../retry.js';

/** Whether so many transactions wait for their block. */
export async function isInPool(rpcUrl: string, count = 1): Promise<boolean> {
  const { pending } = (await callRpc(rpcUrl, 'txpool_status')) as { pending: string };
  return Number(pending) >= count;
}

export const waitForPool = (rpcUrl: string, count = 1): Promise<void> =>
  waitFor(`${count} transactions in the pool`, () => isInPool(rpcUrl, count));
