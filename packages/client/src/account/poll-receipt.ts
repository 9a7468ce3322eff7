import type { Hex } from '@tollgate/protocol';
import type { PublicClient, TransactionReceipt } from 'viem';

import { sleep } from '../network/sleep.js';
import type { PollLimits } from './read-at-block.js';

/** The specification's polling of a transaction (section "Limits"). */
export const POLLING: PollLimits = { attempts: 30, intervalMs: 1_000 };

/**
 * Looks a receipt up once per interval. A look-up that fails counts as one that found nothing.
 * @param onMissing called after each look-up that found nothing, and its errors are ignored; true ends the polling
 * @returns null when the attempts are used up, or `onMissing` has ended it
 */
export async function pollReceipt(
  client: PublicClient,
  hash: Hex,
  { attempts, intervalMs, onMissing }: PollLimits & { onMissing?: () => Promise<boolean> },
): Promise<TransactionReceipt | null> {
  for (let attempt = 1; attempt <= attempts; attempt += 1) {
    const receipt = await client.getTransactionReceipt({ hash }).catch(() => null);
    if (receipt && isReceiptOf(receipt, hash)) return receipt;
    if (await onMissing?.().catch(() => false)) return null;
    await sleep(intervalMs, null);
  }
  return null;
}

/** A receipt counts only if it is of this transaction and has a status. */
export function isReceiptOf({ transactionHash, status }: TransactionReceipt, hash: Hex): boolean {
  return transactionHash?.toLowerCase() === hash.toLowerCase() && ['success', 'reverted'].includes(status);
}
