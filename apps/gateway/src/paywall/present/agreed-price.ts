import { validityOf } from '@tollgate/protocol';

import type { AuthenticReference } from '../offer/challenges.js';
import type { Instrument } from './purchase.js';

/**
 * The amount a payment must have: the price its challenge named, or the current one. A signature could be kept until
 * the price rises, so the price of its challenge only counts for a signature that expires soon after that challenge: no
 * later than a client that signed in time lets it expire. The time of presentation does not matter, for the payment may
 * have been settled long before.
 */
export function agreedPriceOf(
  instrument: Instrument,
  reference: AuthenticReference | null,
  { priceBaseUnits, maxTimeoutSeconds }: { readonly priceBaseUnits: bigint; readonly maxTimeoutSeconds: number },
): bigint {
  if (reference === null) return priceBaseUnits;
  if (instrument.kind === 'transaction') return reference.priceBaseUnits;
  const endsAt = BigInt(validityOf(instrument).validBefore);
  const honouredUntil = Math.ceil(reference.issuedAtMs / 1000) + 2 * maxTimeoutSeconds;
  return endsAt <= BigInt(honouredUntil) ? reference.priceBaseUnits : priceBaseUnits;
}
