import type { PaymentStore } from '@tollgate/client';
import { isVolatile, type MethodOptions } from '@tollgate/client/internal';
import { caip2Of } from '@tollgate/protocol';
import { isAddressEqual, type Address } from 'viem';

import type { OwnHeaders } from '../types/plan.js';
import type { Token } from '../types/token.js';

/** The default maximum price of one answer: whole units of a token worth about a dollar. */
const DEFAULT_MAX_PAYMENT = '0.01';

export const PRICE_TIMEOUT_MS = 10_000;

/** How a kit pays at servers that answer 402. */
export interface PaymentSettings extends MethodOptions {
  /** The maximum price of a resource when the inputs contain none, as decimal text in the token's unit; default 0.01. */
  maxAmount?: string;
  /** Where payments are stored to survive a crash; default: where the paying client stores them. */
  store?: PaymentStore | 'memory';
  /** Allow payments over plain HTTP to other machines too; default false. */
  allowInsecureHttp?: boolean;
  /** Time limit for reading a price; default 10,000. */
  priceTimeoutMs?: number;
  /**
   * Headers for the requests to an origin: `{ 'https://api.example.com': { authorization: 'Bearer …' } }`. They are in
   * no plan and no result, and inputs cannot replace them.
   */
  headers?: OwnHeaders;
}

/** The limits of payments on a chain. A server's answer never extends them. */
export interface PaymentLimits extends Omit<PaymentSettings, 'store'> {
  /** The gates' name for the chain, for example `chain-testnet`. */
  network: string;
  tokens: readonly Token[];
  maxAmount: string;
  /** Whether a signature is preferred to a transfer: where payments are lost with the process. Default false. */
  prefersSignatures?: boolean;
}

/** The limits on a chain, with the decimals of our own list; without tokens if gates accept none of it. */
export function createPaymentLimits(
  { chainId, payments }: { chainId: number; payments?: { network: string; tokens: readonly Address[] } },
  listed: readonly Token[],
  options: PaymentSettings = {},
): PaymentLimits {
  const { store, ...others } = options;
  const tokens = listed.filter((token) => payments?.tokens.some((payable) => isAddressEqual(payable, token.address)));
  return {
    ...others,
    network: payments?.network ?? caip2Of(chainId),
    tokens,
    maxAmount: options.maxAmount ?? DEFAULT_MAX_PAYMENT,
    prefersSignatures: isVolatile(store),
  };
}
