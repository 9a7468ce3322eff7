import { TransactionReceiptNotFoundError, type Hex, type PublicClient, type TransactionReceipt } from 'viem';

import { waitFor } from '../retry.js';

/**
 * Polls until the receipt is there. viem's own wait polls again at the next block, which never comes on a quiet chain.
 */
export async function awaitReceipt(
  client: Pick<PublicClient, 'getTransactionReceipt'>,
  hash: Hex,
): Promise<TransactionReceipt> {
  let receipt: TransactionReceipt | null = null;
  await waitFor(`${hash} is mined`, async () => {
    receipt = await client.getTransactionReceipt({ hash }).catch((error: unknown) => {
      if (error instanceof TransactionReceiptNotFoundError) return null;
      throw error;
    });
    return receipt !== null;
  });
  return receipt as unknown as TransactionReceipt;
}
