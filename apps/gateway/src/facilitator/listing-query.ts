import { countParameter, textParameter } from '@tollgate/common';
import { z } from 'zod';

/** Filter and page of the resource listing. Unknown parameters are ignored: published clients send additional ones. */
export const listingQuery = z.object({
  type: textParameter.optional().describe('Only `http` is supported.'),
  payTo: textParameter.optional().describe('Only resources that pay this recipient.'),
  scheme: textParameter.optional().describe('Only resources payable by this scheme.'),
  network: textParameter.optional().describe('Only resources payable on this network.'),
  limit: countParameter(1, 100, 20).describe('Maximum number of resources.'),
  offset: countParameter(0, 1_000_000, 0).describe('Number of resources to skip.'),
});
export type ListingQuery = z.output<typeof listingQuery>;
