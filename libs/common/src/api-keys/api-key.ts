/**
 * `submit` hands jobs in, `read` looks at the key's own, `operator` sees all jobs, approves, and looks after the queues.
 * `settle` has the facilitator settle payments to anybody, which the relayer pays the gas of.
 */
export const API_KEY_SCOPES = ['submit', 'read', 'operator', 'settle'] as const;
export type ApiKeyScope = (typeof API_KEY_SCOPES)[number];

/** What is known of an API key. The token itself is kept nowhere, and shown once. */
export interface ApiKey {
  /** Public: names the key in jobs, logs and events. */
  id: string;
  /** What people call it. */
  name: string;
  scopes: readonly ApiKeyScope[];
  /** The wallets that it may use, by name; `*` stands for all. None for a key that only settles. */
  wallets: readonly string[];
  createdAtMs: number;
  revokedAtMs: number | null;
}

/** Whether the key may use a wallet. */
export function mayUseWallet({ wallets }: ApiKey, wallet: string): boolean {
  return wallets.includes('*') || wallets.includes(wallet);
}
