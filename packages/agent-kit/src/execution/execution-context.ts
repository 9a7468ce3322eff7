import type { Account, PollLimits, PaymentOptions, PaymentStore } from '@tollgate/client';
import type { Address, PublicClient } from 'viem';

import type { TokenResolver } from '../tokens/resolve-token.js';
import type { OwnHeaders } from '../types/plan.js';
import type { EventHandlers } from '../types/transaction-events.js';

export interface ExecutionContext {
  client: PublicClient;
  chainId: number;
  account: Address;
  tokens: TokenResolver;
  /** The account's own sender: kits of this process with one account share its turns and its nonces. */
  sender: Account;
  events: EventHandlers;
  explorerUrl: string | null;
  /** How long a sent transaction is watched. */
  patience: PollLimits;
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
  /** Headers of the program's own. */
  headers?: OwnHeaders;
}
