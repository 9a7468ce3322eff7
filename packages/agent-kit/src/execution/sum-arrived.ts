import { isAddressEqual, type Log } from 'viem';

import { describeMove, readTransfer, type Transfer } from '../tokens/transfers.js';
import type { ToolResult } from '../types/tool-result.js';
import type { ExecutionContext } from './execution-context.js';

/** What has arrived of one token, as its contract's logs say: the logs of an unlisted one may be false. */
type ArrivedToken = NonNullable<ToolResult['arrived']>[number];

// Each may cost a request to the chain.
const MOST_ARRIVALS = 10;

/** The ERC-20 tokens that arrived at the account, each with the sum of its transfers; empty where there are none. */
export async function sumArrived(
  context: Pick<ExecutionContext, 'client' | 'tokens' | 'account'>,
  logs: readonly Log[],
): Promise<{ arrived?: ArrivedToken[] }> {
  const sums = new Map<string, Transfer & { amountBaseUnits: bigint }>();
  for (const log of logs) {
    const transfer = readTransfer(log);
    if (!transfer?.amountBaseUnits || !isAddressEqual(transfer.to, context.account)) continue;
    const amountBaseUnits = transfer.amountBaseUnits + (sums.get(transfer.token)?.amountBaseUnits ?? 0n);
    sums.set(transfer.token, { ...transfer, amountBaseUnits });
  }
  const arrived = await Promise.all([...sums.values()].slice(0, MOST_ARRIVALS).map((sum) => describe(context, sum)));
  return arrived.length === 0 ? {} : { arrived };
}

async function describe(
  context: Pick<ExecutionContext, 'client' | 'tokens'>,
  sum: Transfer & { amountBaseUnits: bigint },
): Promise<ArrivedToken> {
  try {
    const { token, amount, amountBaseUnits } = await describeMove(context, sum);
    return { token, ...(amount === undefined ? { amountBaseUnits } : { amount }) } as ArrivedToken;
  } catch {
    // A node that does not answer now makes no failure of what has succeeded.
    const token = { ticker: null, address: sum.token, isListed: false };
    return { token, amountBaseUnits: sum.amountBaseUnits.toString() };
  }
}
