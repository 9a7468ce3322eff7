import { formatTokenAmount } from '@tollgate/protocol';
import type { Address, PublicClient } from 'viem';

import { previewTransfer } from '../tokens/preview-transfer.js';
import { showSymbol } from '../tokens/show-token.js';
import { AgentKitError } from '../types/agent-kit-error.js';
import type { TokenAmount } from '../types/token.js';

/**
 * Tries a transfer between an account and a pool, sending nothing: a token that keeps a part of each transfer breaks
 * the assumptions of pools and minimum amounts. Listed tokens are known not to; if the transfer cannot be tried, the
 * plan's simulation decides.
 * @throws AgentKitError `INVALID_INPUT` when less arrives than was sent.
 */
export async function assertArrivesWhole(
  client: PublicClient,
  amount: TokenAmount,
  { from, to }: { from: Address; to: Address },
): Promise<void> {
  const { token, amountBaseUnits } = amount;
  if (token.isListed || token.isNative) return;
  const arriving = await previewTransfer({ client, account: from }, amount, to);
  if (arriving === null || arriving >= amountBaseUnits) return;
  const sent = formatTokenAmount(amountBaseUnits, token.decimals);
  const received = formatTokenAmount(arriving < 0n ? 0n : arriving, token.decimals);
  throw new AgentKitError(
    'INVALID_INPUT',
    `The token ${showSymbol(token)} (${token.address}) keeps a part of each transfer: of ${sent} only ${received} arrive. Such tokens can be neither swapped nor pooled.`,
    { details: { token: token.address, sent, received }, suggestion: 'Use another token.' },
  );
}
