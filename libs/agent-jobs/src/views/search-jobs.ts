import { limitParameter, onlyFields, refuseRequest, textParameter, wordsParameter } from '@tollgate/http';
import type { JobPage, Journal } from '@tollgate/journal';
import { JOB_OPERATIONS, JOB_STATES } from '@tollgate/protocol';
import { z } from 'zod';

import type { WalletDirectory } from '../wallets/wallet-directory.js';

/** What a list of jobs may be asked for. */
export const jobQuery = onlyFields({
  state: wordsParameter(JOB_STATES)
    .optional()
    .meta({ description: 'One or more, separated by commas.', example: 'FINAL,REVERTED' }),
  operation: z
    .enum(JOB_OPERATIONS, `must be one of ${JOB_OPERATIONS.join(', ')}`)
    .optional()
    .describe('One operation.'),
  wallet: textParameter.optional().describe("A wallet's name."),
  limit: limitParameter.describe('Maximum number of jobs on a page.'),
  cursor: textParameter.optional().describe('The cursor of the previous page.'),
});
export type JobQuery = z.output<typeof jobQuery>;

/**
 * A page of the jobs that match, newest first.
 * @param keyId the API key that submitted them; without it, any
 * @throws ProblemError if the cursor does not belong to this list
 */
export async function searchJobs(
  { journal, directory }: { journal: Journal; directory: Pick<WalletDirectory, 'find'> },
  { state, ...search }: JobQuery,
  keyId?: string,
): Promise<JobPage> {
  const { wallet, cursor } = search;
  const entry = wallet === undefined ? null : await directory.find(wallet);
  const lanes = wallet === undefined ? await journal.readLanes() : entry === null ? [] : [entry.lane];
  try {
    return await journal.listJobs({ ...search, lanes, states: state, keyId });
  } catch (error) {
    if (error instanceof TypeError && cursor !== undefined)
      throw refuseRequest(['cursor is not a cursor of this list.']);
    throw error;
  }
}
