import { hash } from 'node:crypto';

/**
 * `submit` submits jobs, `read` reads the key's own jobs, `operator` sees all jobs, approves them, and manages the
 * queues. `settle` lets the facilitator settle payments to any recipient, for which the relayer pays the gas. The others
 * are for the book: to read it, to ask for refunds, to approve and to close, and to pause wallets and relayers.
 */
export const API_KEY_SCOPES = [
  ...(['submit', 'read', 'operator', 'settle'] as const),
  ...(['operator:read', 'operator:refund', 'operator:approve', 'operator:wallets'] as const),
] as const;
export type ApiKeyScope = (typeof API_KEY_SCOPES)[number];

/** Whether a key with this scope alone uses no wallet. */
export function needsNoWallet(scope: ApiKeyScope): boolean {
  return scope === 'settle' || scope.startsWith('operator:');
}

/** The stored facts about an API key. The token itself is not stored; it is shown once. */
export interface ApiKey {
  /** Public: identifies the key in jobs, logs and events. */
  id: string;
  /** A name for display. */
  name: string;
  scopes: readonly ApiKeyScope[];
  /** Names of the wallets that the key may use; `*` stands for all. Empty for a key whose scopes need none. */
  wallets: readonly string[];
  /**
   * What the facilitator takes with this key: options by name, chains as `eip155:<id>`; `*` stands for all. Empty for a
   * key without the scope `settle`.
   */
  accepts: readonly string[];
  createdAtMs: number;
  revokedAtMs: number | null;
}

/** Whether the key may use a wallet. */
export function mayUseWallet({ wallets }: ApiKey, wallet: string): boolean {
  return wallets.includes('*') || wallets.includes(wallet);
}

/** Whether the facilitator takes a payment with the key. @param names of its option and its chain */
export function mayAccept({ accepts }: ApiKey, names: readonly string[]): boolean {
  return accepts.includes('*') || accepts.some((name) => names.includes(name));
}

/** SHA-256 of the token, whose 256 random bits need no slower hash. */
export function hashToken(token: string): string {
  return hash('sha256', token, 'hex');
}
