/**
 * `submit` submits jobs, `read` reads the key's own jobs, `operator` sees all jobs, approves them, and manages the
 * queues. `settle` lets the facilitator settle payments to any recipient, for which the relayer pays the gas.
 */
export const API_KEY_SCOPES = ['submit', 'read', 'operator', 'settle'] as const;
export type ApiKeyScope = (typeof API_KEY_SCOPES)[number];

/** The stored facts about an API key. The token itself is not stored; it is shown once. */
export interface ApiKey {
  /** Public: identifies the key in jobs, logs and events. */
  id: string;
  /** A name for display. */
  name: string;
  scopes: readonly ApiKeyScope[];
  /** Names of the wallets that the key may use; `*` stands for all. Empty for a key that only settles. */
  wallets: readonly string[];
  createdAtMs: number;
  revokedAtMs: number | null;
}

/** Whether the key may use a wallet. */
export function mayUseWallet({ wallets }: ApiKey, wallet: string): boolean {
  return wallets.includes('*') || wallets.includes(wallet);
}
