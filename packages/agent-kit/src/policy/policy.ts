import type { Address } from 'viem';

/** What a kit may do with its wallet. A rule that is not set limits nothing. */
export interface SpendingPolicy {
  /** The only write operations allowed. */
  operations?: readonly string[];
  /**
   * The only addresses that may receive tokens or rights: recipients of transfers and payments, spenders of approvals.
   */
  recipients?: readonly Address[];
  /**
   * The only contracts that may be called, or approved to take tokens; the tokens' own contracts are included in the
   * check.
   */
  contracts?: readonly Address[];
  /** The maximum that one operation may spend of a token: decimal amount by token (`0x0`, address or listed symbol). */
  maxPerOperation?: Readonly<Record<string, string>>;
  /**
   * The maximum that all operations of a day (UTC) may spend of a token. If there are any limits, tokens that are not
   * listed are refused.
   */
  maxPerDay?: Readonly<Record<string, string>>;
  /** Highest slippage tolerance, in basis points. */
  maxSlippageBps?: number;
}
