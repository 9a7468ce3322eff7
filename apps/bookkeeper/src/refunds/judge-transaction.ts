import type { Refund } from '@tollgate/book';
import { listTransfers } from '@tollgate/chain';
import { codeOfLane, createLaneId } from '@tollgate/journal';
import type { Hex } from '@tollgate/protocol';

import type { SellerChain } from '../chain/seller-chain.js';

/**
 * Why a transaction is not the one that paid a refund; null: it is. The wallet is the account that the refund's job names.
 * @throws ChainUnavailableError
 */
export async function judgeTransaction(
  chain: SellerChain,
  { job, asset, recipient, amount }: Refund,
  transaction: Hex,
  confirmations: number,
): Promise<string | null> {
  const mined = await chain.readTransaction(transaction);
  if (mined === null || mined.receipt.status !== 'success')
    return 'The chain does not show this transaction as successful.';
  const { logs, blockNumber } = mined.receipt;
  const isOwn = listTransfers(logs, asset).some(
    ({ from, to, amountBaseUnits }) =>
      job?.startsWith(`${codeOfLane(createLaneId(chain.chainId, from))}-`) === true &&
      to === recipient &&
      amountBaseUnits === BigInt(amount),
  );
  if (!isOwn) return 'It has no transfer of exactly this amount from the wallet of the refund to the payer.';
  if (blockNumber > (await chain.readHeadNumber()) - confirmations + 1)
    return `It is not final yet: wait for ${confirmations} blocks (RECONCILE_CONFIRMATIONS).`;
  return null;
}
