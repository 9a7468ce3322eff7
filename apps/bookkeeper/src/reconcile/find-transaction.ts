import type { KnownSender, UnreportedTransaction } from '@tollgate/book';
import type { ChainHistory } from '@tollgate/chain';
import type { Hex } from '@tollgate/protocol';

/**
 * Finds the transaction that used an account's nonce, by halving the blocks in which the count of its transactions
 * passed it. Null: the RPC server no longer has the state of these blocks.
 * @throws ChainUnavailableError
 */
export async function findTransaction(
  history: ChainHistory,
  chainId: number,
  { address, blockNumber: fromBlock }: KnownSender,
  { nonce, toBlock }: { nonce: number; toBlock: number },
): Promise<UnreportedTransaction | null> {
  let [low, high] = [fromBlock, toBlock];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    const [count] = await history.countTransactions([address as Hex], middle);
    if (count === null || count === undefined) return null;
    if (count > nonce) high = middle;
    else low = middle;
  }
  const sent = (await history.readTransactions(high)).find((one) => one.from === address && one.nonce === nonce);
  if (sent === undefined) return null;
  const [[receipt], block] = await Promise.all([history.readReceipts([sent.txHash]), history.readBlock(high)]);
  if (!receipt || block === null) return null;
  return {
    ...{ chainId, hash: sent.txHash, sender: address, nonce, blockNumber: high, atMs: block.timeMs },
    gasCost: receipt.gasUsed * (receipt.effectiveGasPrice ?? 0n),
    value: receipt.status === 'success' ? sent.value : 0n,
  };
}
