import type { Address, PublicClient } from 'viem';

import type { Plan } from '../plan/plan.js';
import type { Signer } from '../signing/signer.js';
import type { ToolResult } from '../tool-result.js';
import type { EventHandlers } from '../transaction-events.js';
import type { AccountLane } from './account-lane.js';
import type { PaymentSettings } from './pay-for-resource.js';

/**
 * Carries a plan out. Nothing was sent: it throws. Something was sent: it returns, whatever became of it.
 * The durable executor is the agent worker's; those here live and die with their process.
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
  /** How long a sent transaction is watched; the specification's numbers where it names none. */
  monitor: { attempts?: number; intervalMs?: number };
  rpcUrl: string;
  networkRetryDelayMs: number;
  payments: PaymentSettings;
}
