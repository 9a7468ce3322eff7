import { isAddressEqual } from 'viem';

import type { ChainRegistry } from '../registry/registry.js';
import type { Token } from '../tokens/token.js';

/** The most that one answer may cost where nobody says otherwise: whole units of a token worth about a dollar. */
const DEFAULT_MAX_PAYMENT = '0.01';

export const PRICE_TIMEOUT_MS = 10_000;

/** What may be paid at HTTP 402 gates. Nothing that a server says adds to it. */
export interface PaymentLimits {
  /** What gates call the chain, for example `chain-testnet`. */
  network: string;
  tokens: readonly Token[];
  /** The most for one answer, as decimal text in whole units, where the inputs name no limit. */
  maxAmount: string;
  /** Pay over plain HTTP to other machines too; false. */
  allowInsecureHttp?: boolean;
  /** Longest wait for a price; 10,000. */
  priceTimeoutMs?: number;
}

/** The limits on a chain, with the decimals of our own list; undefined where gates take none of its tokens. */
export function createPaymentLimits(
  { payments }: Pick<ChainRegistry, 'payments'>,
  listed: readonly Token[],
  options: { maxAmount?: string; allowInsecureHttp?: boolean; priceTimeoutMs?: number } = {},
): PaymentLimits | undefined {
  if (!payments) return undefined;
  const { maxAmount = DEFAULT_MAX_PAYMENT, allowInsecureHttp = false, priceTimeoutMs = PRICE_TIMEOUT_MS } = options;
  const tokens = listed.filter((token) => payments.tokens.some((payable) => isAddressEqual(payable, token.address)));
  return { network: payments.network, tokens, maxAmount, allowInsecureHttp, priceTimeoutMs };
}
