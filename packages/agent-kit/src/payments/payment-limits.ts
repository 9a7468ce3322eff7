import type { PaymentStore } from '@tollgate/client';
import { isVolatile } from '@tollgate/client/internal';
import { isAddressEqual, type Address } from 'viem';

import type { OwnHeaders } from '../types/plan.js';
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
  /** Whether a signature is preferred to a transfer: where payments are lost with the process. Default false. */
  prefersSignatures?: boolean;
  /** The allowance to give Permit2 if it is too low, as decimal text in whole units; if omitted, none is given. */
  permit2Allowance?: string;
  /** Headers of the program's own. */
  headers?: OwnHeaders;
}

/** The limits on a chain, with the decimals of our own list; undefined if gates accept none of its tokens. */
export function createPaymentLimits(
  { payments }: { payments?: { network: string; tokens: readonly Address[] } },
  listed: readonly Token[],
  options: Partial<Omit<PaymentLimits, 'network' | 'tokens' | 'prefersSignatures'>> & {
    store?: PaymentStore | 'memory';
  } = {},
): PaymentLimits | undefined {
  if (!payments) return undefined;
  const { store, ...others } = options;
  const tokens = listed.filter((token) => payments.tokens.some((payable) => isAddressEqual(payable, token.address)));
  return {
    ...others,
    network: payments.network,
    tokens,
    maxAmount: options.maxAmount ?? DEFAULT_MAX_PAYMENT,
    prefersSignatures: isVolatile(store),
  };
}
