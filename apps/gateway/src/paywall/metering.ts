import { formatTokenAmount, parseTokenAmount, PaymentError } from '@tollgate/protocol';

import { UpstreamError } from './paid-route.js';
import type { Instrument } from './presented-payment.js';

/** Whether the payer signed for a maximum (scheme `upto`), and is charged what the answer came to. */
export function isMetered(instrument: Instrument): boolean {
  return instrument.kind === 'permit2' && instrument.scheme === 'upto';
}

export interface ChargeTerms {
  readonly maximumBaseUnits: bigint;
  readonly assetDecimals: number;
}

/**
 * What an answer came to, by the words of its resource: a decimal number in units of the asset. The maximum where it
 * says nothing, so that a resource which forgets it sells at its price.
 * @throws UpstreamError `mischarged` for what is no such number, or above the maximum
 */
export function parseCharge(text: string | undefined, { maximumBaseUnits, assetDecimals }: ChargeTerms): bigint {
  if (text === undefined) return maximumBaseUnits;
  const charge = readAmount(text, assetDecimals);
  if (charge <= maximumBaseUnits) return charge;
  const maximum = formatTokenAmount(maximumBaseUnits, assetDecimals);
  throw new UpstreamError('mischarged', `The resource charged ${text.trim()}, and at most ${maximum} was agreed.`);
}

function readAmount(text: string, assetDecimals: number): bigint {
  try {
    return parseTokenAmount(text.trim(), assetDecimals);
  } catch (error) {
    if (!(error instanceof PaymentError)) throw error;
    throw new UpstreamError('mischarged', `The charge of the resource cannot be read: ${error.message}`, {
      cause: error,
    });
  }
}
