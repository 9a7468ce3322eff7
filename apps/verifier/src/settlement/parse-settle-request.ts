import type { SettleSignedPaymentRequest } from '@tollgate/common';

import {
  readBaseUnits,
  readNumber,
  readObject,
  readSignedPayment,
  readSignedPaymentTerms,
  readText,
} from '../message-fields.js';

/** Unknown to a request with addresses and hashes in lower case, or throws MalformedMessageError. */
export function parseSettleRequest(message: unknown): SettleSignedPaymentRequest {
  const fields = readObject(message, 'message');
  return {
    requestId: readText(fields, 'requestId'),
    deadlineMs: readNumber(fields, 'deadlineMs'),
    terms: readSignedPaymentTerms(fields, 'terms'),
    payment: readSignedPayment(fields, 'payment'),
    amountBaseUnits: readBaseUnits(fields, 'amountBaseUnits'),
  };
}
