import type { VerifySignedPaymentRequest } from '@tollgate/common';

import { readKey, readNumber, readObject, readSignedPaymentQuestion, readTextField } from './message-fields.js';

/** Parses a message into a request with hexadecimal text in lower case. @throws MalformedMessageError */
export function parseVerifySignedPaymentRequest(message: unknown): VerifySignedPaymentRequest {
  const fields = readObject(message, 'message');
  return {
    ...readSignedPaymentQuestion(fields),
    clientAddress: readTextField(fields, 'clientAddress'),
    claim: fields.claim === null ? null : parseClaim(fields.claim),
  };
}

function parseClaim(value: unknown): NonNullable<VerifySignedPaymentRequest['claim']> {
  const claim = readObject(value, 'claim');
  return {
    owner: readKey(claim, 'owner'),
    fingerprint: readKey(claim, 'fingerprint'),
    retryKey: claim.retryKey === null ? null : readKey(claim, 'retryKey'),
    leaseMs: readNumber(claim, 'leaseMs'),
  };
}
