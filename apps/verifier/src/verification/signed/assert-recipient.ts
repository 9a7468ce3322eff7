import type { Hex, TransferAuthorization } from '@tollgate/protocol';

import { PaymentRefused } from '../payment-refused.js';

/** The payer must have signed for the requested recipient; refuses `recipient_mismatch`. */
export function assertRecipient({ to }: Pick<TransferAuthorization, 'to'>, payTo: Hex): void {
  if (to !== payTo) throw new PaymentRefused('recipient_mismatch');
}
