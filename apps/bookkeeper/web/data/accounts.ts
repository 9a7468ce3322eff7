interface Limit {
  readonly asset: string;
  readonly symbol: string;
  readonly decimals: number;
  /** Base units; null: no such limit. */
  readonly perOperation: string | null;
  readonly perDay: string | null;
  readonly approvalAbove: string | null;
  readonly leftToday: string | null;
}

/** An account that sends transactions, as `GET /operator/wallets` shows it. */
export interface SendingAccount {
  readonly role: 'wallet' | 'relayer';
  readonly name: string | null;
  readonly address: string;
  readonly chainId: number;
  readonly nextNonce: number | null;
  readonly openJobs: number;
  readonly inFlight: number;
  readonly balanceWei: string | null;
  readonly paused: { readonly message: string } | null;
  readonly frozen: string | null;
  readonly heldBy: string | null;
  readonly limits: readonly Limit[] | null;
}

export interface AccountList {
  readonly wallets: readonly SendingAccount[];
}

export const ACCOUNTS_EVERY_MS = 5_000;
