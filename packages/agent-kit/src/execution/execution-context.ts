import type { PaymentOptions, PaymentStore } from '@tollgate/client';
import type { Address, LocalAccount, PublicClient } from 'viem';

import type { EventHandlers } from '../types/transaction-events.js';
import type { AccountLane } from './account-lane.js';

export interface ExecutionContext {
  client: PublicClient;
  chainId: number;
  account: Address;
  signer: LocalAccount;
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
export interface PaymentSettings extends Pick<PaymentOptions, 'allowInsecureHttp' | 'deadlineMs' | 'attemptTimeoutMs'> {
  /** Where payments are stored until they are redeemed; by default where the paying client stores them. */
  store?: PaymentStore | 'memory';
  fetch: typeof globalThis.fetch;
  /** Time limit for reading a price; default 10,000. */
  priceTimeoutMs?: number;
}
