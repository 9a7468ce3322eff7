import { isAddressEqual, type Address } from 'viem';

import type { Token } from '../types/token.js';

/** The default maximum price of one answer: whole units of a token worth about a dollar. */
const DEFAULT_MAX_PAYMENT = '0.01';

export const PRICE_TIMEOUT_MS = 10_000;

/** The limits of payments at servers that answer 402. A server's answer never extends them. */
export interface PaymentLimits {
  /** The gates' name for the chain, for example `chain-testnet`. */
  network: string;
  tokens: readonly Token[];
  /** The maximum price of one answer, as decimal text in whole units, if the inputs contain none. */
  maxAmount: string;
  /** Allow payments over plain HTTP to other machines too; default false. */
  allowInsecureHttp?: boolean;
  /** Time limit for reading a price; default 10,000. */
  priceTimeoutMs?: number;
}

/** The limits on a chain, with the decimals of our own list; undefined if gates accept none of its tokens. */
export function createPaymentLimits(
  { payments }: { payments?: { network: string; tokens: readonly Address[] } },
  listed: readonly Token[],
  options: { maxAmount?: string; allowInsecureHttp?: boolean; priceTimeoutMs?: number } = {},
): PaymentLimits | undefined {
  if (!payments) return undefined;
  const { maxAmount = DEFAULT_MAX_PAYMENT, allowInsecureHttp = false, priceTimeoutMs = PRICE_TIMEOUT_MS } = options;
  const tokens = listed.filter((token) => payments.tokens.some((payable) => isAddressEqual(payable, token.address)));
  return { network: payments.network, tokens, maxAmount, allowInsecureHttp, priceTimeoutMs };
}
