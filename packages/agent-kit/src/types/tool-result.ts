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
