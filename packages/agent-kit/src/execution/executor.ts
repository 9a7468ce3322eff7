import type { PaymentStore } from '@tollgate/client';
import type { Address, PublicClient } from 'viem';

import type { Signer } from '../signing/signer.js';
import type { Plan } from '../types/plan.js';
import type { ToolResult } from '../types/tool-result.js';
import type { EventHandlers } from '../types/transaction-events.js';
import type { AccountLane } from './account-lane.js';

/**
 * Executes a plan. Throws if nothing was sent; returns once something was sent, whatever its outcome. These executors
 * do not survive their process; the durable executor is the agent worker's.
 */
export interface Executor {
  execute(plan: Plan): Promise<ToolResult>;
}

export interface ExecutionContext {
  client: PublicClient;
  chainId: number;
  account: Address;
  signer: Signer;
  lane: AccountLane;
  events: EventHandlers;
  explorerUrl: string | null;
  /** How long a sent transaction is watched; defaults from the specification. */
  monitor: { attempts?: number; intervalMs?: number };
  rpcUrl: string;
  networkRetryDelayMs: number;
  payments: PaymentSettings;
}

/** How payments at servers that answer 402 are made and stored. */
export interface PaymentSettings {
  /** Where payments are stored until they are redeemed; `MemoryPaymentStore` survives no crash. */
  store: PaymentStore;
  fetch: typeof globalThis.fetch;
  allowInsecureHttp?: boolean;
  /** Time limit for reading a price; default 10,000. */
  priceTimeoutMs?: number;
  /** From the signature to the answer; 60 s. */
  deadlineMs?: number;
  /** One attempt to fetch and read the paid answer; 30 s. */
  attemptTimeoutMs?: number;
}
