/** The answer of `POST /verify`; an invalid payment is not an HTTP error. */
export interface VerifyResponse {
  isValid: boolean;
  invalidReason?: string;
  invalidMessage?: string;
  payer?: string;
}

/** The answer of `POST /settle`. `transaction` is empty without one. */
export interface SettleResponse {
  success: boolean;
  errorReason?: string;
  errorMessage?: string;
  payer?: string;
  transaction: string;
  network: string;
  /** Base units moved, as decimal text. */
  amount?: string;
}

export interface SupportedKind {
  x402Version: 1 | 2;
  scheme: string;
  network: string;
  extra?: Readonly<Record<string, unknown>>;
}

/** The answer of `GET /supported`. */
export interface SupportedResponse {
  kinds: readonly SupportedKind[];
  extensions: readonly string[];
  /** The addresses that send settlements, by pattern of CAIP-2 networks. */
  signers: Readonly<Record<string, readonly string[]>>;
}

/** One element of the list of `GET /discovery/resources`; `lastUpdated` is ISO 8601. */
export interface DiscoveredResource {
  resource: string;
  type: 'http';
  x402Version: 1 | 2;
  accepts: readonly object[];
  lastUpdated: string;
  description?: string;
  mimeType?: string;
  metadata?: Readonly<Record<string, unknown>>;
  extensions?: Readonly<Record<string, unknown>>;
}

export interface DiscoveryResponse {
  x402Version: 1 | 2;
  items: readonly DiscoveredResource[];
  pagination: { limit: number; offset: number; total: number };
}
