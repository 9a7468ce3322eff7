import type { Hex } from 'viem';

import type { AgentKitErrorCode } from './agent-kit-error.js';
import type { SentTransaction } from './transaction-events.js';

/**
 * What a write operation returns (specification, section "ToolResult"): `status` is `success`, and anything else is a failure.
 * `signed` and `timeout` are failures in that sense too: nothing is known to have happened on the chain.
 */
export interface ToolResult {
  status: 'success' | 'failed' | 'timeout' | 'signed';
  /** The hash of the transaction that did it; on failure of the one that failed, where one was sent. */
  result?: Hex;
  /** Present on failure: one sentence. */
  error?: string;
  code?: AgentKitErrorCode;
  suggestion?: string;
  /** Everything that was sent, in order: approvals too. */
  transactions: readonly SentTransaction[];
  /** Signed and not sent (`sign-only`), in order. */
  signedTransactions?: readonly Hex[];
  fromToken?: string;
  toToken?: string;
  amount?: string;
  /** Further fields of the operation's report. */
  [field: string]: unknown;
}

/** The specification's receipt, as the monitoring helper returns it. */
export interface Receipt {
  status: 'success' | 'failed';
  transactionHash: Hex;
  blockNumber: bigint;
  gasUsed: bigint;
}
