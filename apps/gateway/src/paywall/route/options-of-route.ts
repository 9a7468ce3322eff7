import type { PaymentOption } from '@tollgate/config';

import type { PaidRoute } from './paid-route.js';

/** Whether a route may be paid in an option. */
export function acceptsOption(
  { accepts, payTo }: Pick<PaidRoute, 'accepts' | 'payTo'>,
  option: PaymentOption,
): boolean {
  if (accepts !== undefined && !accepts.includes(option.entry)) return false;
  return payTo === undefined ? option.name === option.entry : option.payTo.toLowerCase() === payTo.toLowerCase();
}
