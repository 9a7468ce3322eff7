import { type PollLimits } from '@tollgate/client';
import { pollReceipt, POLLING } from '@tollgate/client/internal';
import type { Hex, PublicClient, TransactionReceipt } from 'viem';

import { AgentKitError } from '../types/agent-kit-error.js';

/**
 * Looks a receipt up once per interval; see the specification, sections "States and transitions" and "Limits".
 * @throws AgentKitError `TIMEOUT` when the attempts are used up, with a link for a manual check.
 */
export async function monitorTransaction(
  client: PublicClient,
  hash: Hex,
  { explorerUrl, ...monitor }: Partial<PollLimits> & { explorerUrl: string | null },
): Promise<TransactionReceipt> {
  const patience = { ...POLLING, ...monitor };
  const receipt = await pollReceipt(client, hash, patience);
  if (receipt) return receipt;
  throw createTimeOut(hash, { ...patience, explorerUrl });
}

export function createTimeOut(
  hash: Hex,
  { attempts, explorerUrl }: Pick<PollLimits, 'attempts'> & { explorerUrl: string | null },
): AgentKitError {
  const place = createExplorerUrl(explorerUrl, `tx/${hash}`) ?? 'a block explorer';
  return new AgentKitError(
    'TIMEOUT',
    `Transaction ${hash} timed out: no receipt after ${attempts} look-ups. It may still be mined; check ${place} manually.`,
    { details: { txHash: hash } },
  );
}

/** Null if the chain has no explorer. */
export function createExplorerUrl(explorerUrl: string | null, page: `tx/${Hex}` | `address/${Hex}`): string | null {
  return explorerUrl === null ? null : `${explorerUrl.replace(/\/+$/, '')}/${page}`;
}
