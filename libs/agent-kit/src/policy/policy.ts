import type { Address } from 'viem';

/** What a kit may do with its wallet. What is not named is not limited. */
export interface SpendingPolicy {
  /** The only write operations allowed. */
  operations?: readonly string[];
  /** The only others who may receive tokens or rights: receivers of transfers and payments, spenders of approvals. */
  recipients?: readonly Address[];
  /** The only contracts that may be called, and that steps may let take tokens; the tokens' own contracts count too. */
  contracts?: readonly Address[];
  /** Most of a token that one operation may spend: decimal amount by token (`0x0`, address or listed symbol). */
  maxPerOperation?: Readonly<Record<string, string>>;
  /** Most of a token that all operations of a day (UTC) may spend. Once there are limits, tokens that none names are refused. */
  maxPerDay?: Readonly<Record<string, string>>;
  /** Highest slippage tolerance, in basis points. */
  maxSlippageBps?: number;
}
