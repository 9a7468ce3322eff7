import { endOfPayment, type SignedTerms } from '@tollgate/protocol';
import type { PublicClient } from 'viem';

/**
 * What a final block shows of a signed payment. `used`: it has moved tokens, or its payer has cancelled it. `void`: it
 * was not used and is past its end, so it can never move any. `open`: neither yet.
 * @param isUsed whether it is used in a block
 * @throws what the client throws
 */
export async function readStateOf(
  client: PublicClient,
  payment: SignedTerms,
  isUsed: (blockNumber: bigint) => Promise<boolean>,
): Promise<'open' | 'used' | 'void'> {
  const { timestamp, number } = await client.getBlock({ blockTag: 'finalized' });
  if (await isUsed(number)) return 'used';
  return timestamp < endOfPayment(payment) ? 'open' : 'void';
}
