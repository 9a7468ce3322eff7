import type { PaymentTrial, SettleSignedPaymentRequest } from '@tollgate/common';

import { readBaseUnits, readNumber, readObject, readSignedPaymentQuestion } from '../message-fields.js';

/** A request as it came: every copy of it has the same id. */
export type SettleQuestion = SettleSignedPaymentRequest & { questionId: string };

/** Unknown to a request with addresses and hashes in lower case, or throws MalformedMessageError. */
export function parseSettleRequest(message: unknown): SettleSignedPaymentRequest {
  const fields = readObject(message, 'message');
  return {
    ...readSignedPaymentQuestion(fields),
    amountBaseUnits: readBaseUnits(fields, 'amountBaseUnits'),
    ...(fields.trial === undefined ? {} : { trial: parseTrial(fields.trial) }),
  };
}

function parseTrial(value: unknown): PaymentTrial {
  const fields = readObject(value, 'trial');
  return { atMs: readNumber(fields, 'atMs'), balanceBaseUnits: readBaseUnits(fields, 'balanceBaseUnits') };
}
