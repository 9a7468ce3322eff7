import type { Address, PublicClient } from 'viem';

/** Reads the chain from the view of one account. */
export interface AccountReader {
  client: PublicClient;
  account: Address;
}
