import type { Journal } from '@tollgate/journal';
import type { AgentJobRequest } from '@tollgate/protocol';

import { findTokenProblems } from './find-token-problems.js';
import type { WalletDirectory } from './wallet-directory.js';

export interface CheckedSubmission {
  request: AgentJobRequest;
  keyId: string;
  idempotencyKey: string;
}

/**
 * The problems that `findTokenProblems` finds with the tokens that the wallet's worker has published. None before they
 * are published, and none for a request that was already submitted, which is answered with its job.
 */
export async function checkTokens(
  { directory, journal }: { directory: WalletDirectory; journal: Pick<Journal, 'isKeyClaimed'> },
  { request, keyId, idempotencyKey }: CheckedSubmission,
): Promise<readonly string[]> {
  const tokens = await directory.findTokens(request.wallet);
  const problems = tokens ? findTokenProblems(request, tokens) : [];
  return problems.length > 0 && (await journal.isKeyClaimed(keyId, idempotencyKey)) ? [] : problems;
}
