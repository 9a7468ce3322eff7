import type { AuthenticReference } from './challenges.js';
import type { Instrument } from './presented-payment.js';

/**
 * What a payment has to be worth: the price its challenge named, or the current one. A signature could be kept for cheaper
 * days than those it was asked in, so that of a challenge holds for one that ends soon after it: as late as a client that
 * signed in time lets it end. When it is presented makes no difference, for it may have been settled long before.
 */
export function priceOf(
  instrument: Instrument,
  reference: AuthenticReference | null,
  { priceBaseUnits, maxTimeoutSeconds }: { readonly priceBaseUnits: bigint; readonly maxTimeoutSeconds: number },
): bigint {
  if (reference === null) return priceBaseUnits;
  if (instrument.kind === 'transaction') return reference.priceBaseUnits;
  const endsAt = BigInt(
    instrument.kind === 'authorization'
      ? instrument.authorization.validBefore
      : instrument.permit2Authorization.deadline,
  );
  const honouredUntil = Math.ceil(reference.issuedAtMs / 1000) + 2 * maxTimeoutSeconds;
  return endsAt <= BigInt(honouredUntil) ? reference.priceBaseUnits : priceBaseUnits;
}
