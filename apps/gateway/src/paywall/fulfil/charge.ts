import { formatTokenAmount, parseTokenAmount, PaymentError } from '@tollgate/protocol';

import { UpstreamError } from '../route/paid-route.js';

interface MeteredTerms {
  readonly maximumBaseUnits: bigint;
  readonly assetDecimals: number;
}

/**
 * The charge that the resource reported: a decimal number in units of the asset. A resource that reports none is
 * charged at the maximum, so that one which forgets it sells at its price.
 * @throws UpstreamError `mischarged` for a charge that is no such number or exceeds the maximum
 */
export function parseCharge(text: string | undefined, { maximumBaseUnits, assetDecimals }: MeteredTerms): bigint {
  if (text === undefined) return maximumBaseUnits;
  const charge = readAmount(text, assetDecimals);
  if (charge <= maximumBaseUnits) return charge;
  const maximum = formatTokenAmount(maximumBaseUnits, assetDecimals);
  throw new UpstreamError(
    'mischarged',
    `The resource charged ${text.trim()}, which exceeds the agreed maximum of ${maximum}.`,
  );
}

function readAmount(text: string, assetDecimals: number): bigint {
  try {
    return parseTokenAmount(text.trim(), assetDecimals);
  } catch (error) {
    if (!(error instanceof PaymentError)) throw error;
    throw new UpstreamError('mischarged', `The resource reported a charge that cannot be read: ${error.message}`, {
      cause: error,
    });
  }
}
