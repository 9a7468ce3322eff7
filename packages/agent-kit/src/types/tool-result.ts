import type { Hex } from 'viem';

import type { AgentKitErrorCode } from './agent-kit-error.js';
import type { SentTransaction } from './transaction-events.js';

/**
 * The result of a write operation (specification, section "ToolResult"): `status` is `success`, and anything else is a
 * failure. `signed` and `timeout` count as failures too, because no effect on the chain is known.
 */
export interface ToolResult {
  status: 'success' | 'failed' | 'timeout' | 'signed';
  /** The hash of the main transaction; on failure that of the failed one, if one was sent. */
  result?: Hex;
  /** Present on failure: one sentence. */
  error?: string;
  code?: AgentKitErrorCode;
  suggestion?: string;
  /** All sent transactions, in order, including approvals. */
  transactions: readonly SentTransaction[];
  /** Signed and not sent (`sign-only`), in order. */
  signedTransactions?: readonly Hex[];
  /**
   * On success, the ERC-20 tokens that arrived at the account, by the logs of the receipts: each with the sum in whole
   * units, or in base units if the token reports no decimals. Native token that a contract sends is not listed.
   */
  arrived?: readonly {
    token: { ticker: string | null; address: string; isListed: boolean };
    amount?: string;
    amountBaseUnits?: string;
  }[];
  fromToken?: string;
  toToken?: string;
  amount?: string;
  /** Of a payment by signature: what the chain shows that it took, in whole units of the token. */
  charged?: string;
  /** Further fields of the operation's report. */
  [field: string]: unknown;
}

/** The specification's receipt, as returned by the monitoring helper. */
export interface Receipt {
  status: 'success' | 'failed';
  transactionHash: Hex;
  blockNumber: bigint;
  gasUsed: bigint;
}
