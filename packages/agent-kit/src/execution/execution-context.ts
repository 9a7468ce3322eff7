import type { Account, PollLimits, PaymentOptions, Wallet } from '@tollgate/client';
import type { Address, PublicClient } from 'viem';

import type { PaymentSettings } from '../payments/payment-limits.js';
import type { TokenResolver } from '../tokens/resolve-token.js';
import type { EventHandlers } from '../types/transaction-events.js';

export interface ExecutionContext {
  client: PublicClient;
  chainId: number;
  account: Address;
  tokens: TokenResolver;
  /** The account's own sender: kits of this process with one account share its turns and its nonces. */
  sender: Account;
  /** Of the account on other chains: each redeems what was paid there. */
  otherWallets: readonly Wallet[];
  events: EventHandlers;
  explorerUrl: string | null;
  /** How long a sent transaction is watched. */
  patience: PollLimits;
  networkRetryDelayMs: number;
  payments: Pick<PaymentSettings, 'store' | 'allowInsecureHttp' | 'priceTimeoutMs' | 'headers'> &
    Pick<PaymentOptions, 'deadlineMs' | 'attemptTimeoutMs'> & { fetch: typeof globalThis.fetch };
}
