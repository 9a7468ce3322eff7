import { toBaseUnits, type PaymentOption, type TokenUnit } from '@tollgate/config';
import { formatTokenAmount, PaymentError } from '@tollgate/protocol';

import { UpstreamError } from '../route/paid-route.js';

interface MeteredTerms {
  readonly maximumBaseUnits: bigint;
  readonly option: TokenUnit & Pick<PaymentOption, 'symbol'>;
  /** The resource does not know in which of them it is paid. */
  readonly hasSeveralOptions: boolean;
}

/**
 * The charge that the resource reported: a decimal number in the seller's unit, as its price. A resource that reports none is
 * charged at the maximum, so that one which forgets it sells at its price.
 * @throws UpstreamError `mischarged` for a charge that is no such number or exceeds the maximum
 */
export function parseCharge(text: string | undefined, { maximumBaseUnits, ...terms }: MeteredTerms): bigint {
  if (text === undefined) return maximumBaseUnits;
  const charge = readAmount(text, terms);
  if (charge <= maximumBaseUnits) return charge;
  const { decimals, symbol } = terms.option;
  const [charged, maximum] = [charge, maximumBaseUnits].map((amount) => formatTokenAmount(amount, decimals));
  throw new UpstreamError(
    'mischarged',
    `The resource charged ${text.trim()}, which is ${charged} ${symbol} and exceeds the agreed maximum of ${maximum} ${symbol}.`,
  );
}

function readAmount(text: string, { option, hasSeveralOptions }: Omit<MeteredTerms, 'maximumBaseUnits'>): bigint {
  try {
    return toBaseUnits(text.trim(), option, hasSeveralOptions ? 'down' : 'refused');
  } catch (error) {
    if (!(error instanceof PaymentError)) throw error;
    throw new UpstreamError('mischarged', `The resource reported a charge that cannot be read: ${error.message}`, {
      cause: error,
    });
  }
}
