import { setTimeout as sleep } from 'node:timers/promises';

import type { Hex, PublicClient, TransactionReceipt } from 'viem';

import { AgentKitError } from '../types/agent-kit-error.js';

/** See the specification, sections "States and transitions" and "Limits". */
export const MONITOR_ATTEMPTS = 30;
export const MONITOR_INTERVAL_MS = 1_000;

export interface MonitorOptions {
  attempts?: number;
  intervalMs?: number;
  explorerUrl: string | null;
  /** Called after each look-up that found nothing; its errors are ignored. */
  onMissing?: (attempt: number) => Promise<unknown>;
}

/**
 * Looks a receipt up once per interval. A look-up that throws counts as one that found nothing.
 * @throws AgentKitError `TIMEOUT` when the attempts are used up, with a link for a manual check.
 */
export async function monitorTransaction(
  client: PublicClient,
  hash: Hex,
  options: MonitorOptions,
): Promise<TransactionReceipt> {
  const { attempts = MONITOR_ATTEMPTS, intervalMs = MONITOR_INTERVAL_MS, explorerUrl, onMissing } = options;
  for (let attempt = 1; attempt <= attempts; attempt++) {
    const receipt = await client.getTransactionReceipt({ hash }).catch(() => null);
    if (receipt && isReceiptOf(receipt, hash)) return receipt;
    await onMissing?.(attempt).catch(() => undefined);
    await sleep(intervalMs);
  }
  const place = createExplorerUrl(explorerUrl, `tx/${hash}`) ?? 'a block explorer';
  throw new AgentKitError(
    'TIMEOUT',
    `Transaction ${hash} timed out: no receipt after ${attempts} look-ups. It may still be mined; check ${place} manually.`,
    { details: { txHash: hash } },
  );
}

/** A receipt counts only if it is of this transaction and has a status. */
export function isReceiptOf({ transactionHash, status }: TransactionReceipt, hash: Hex): boolean {
  return transactionHash?.toLowerCase() === hash.toLowerCase() && ['success', 'reverted'].includes(status);
}

/** Null if the chain has no explorer. */
export function createExplorerUrl(explorerUrl: string | null, page: `tx/${Hex}` | `address/${Hex}`): string | null {
  return explorerUrl === null ? null : `${explorerUrl.replace(/\/+$/, '')}/${page}`;
}
