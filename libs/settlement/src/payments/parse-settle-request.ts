import type { PaymentTrial, SettleSignedPaymentRequest } from '@tollgate/common';
import { readBaseUnits, readNumber, readObject, readSignedPaymentQuestion } from '@tollgate/verification';

/** A settlement request with the id of its message; every copy of the message has the same id. */
export type SettleQuestion = SettleSignedPaymentRequest & { questionId: string };

/** Parses a message into a request with addresses and hashes in lower case. @throws MalformedMessageError */
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
