import type { VerifySignedPaymentRequest } from '@tollgate/common';

import {
  readKey,
  readNumber,
  readObject,
  readSignedPayment,
  readSignedPaymentTerms,
  readText,
} from '../../message-fields.js';

/** Unknown to a request with hexadecimal text in lower case, or throws MalformedMessageError. */
export function parseVerifySignedPaymentRequest(message: unknown): VerifySignedPaymentRequest {
  const fields = readObject(message, 'message');
  return {
    requestId: readText(fields, 'requestId'),
    deadlineMs: readNumber(fields, 'deadlineMs'),
    terms: readSignedPaymentTerms(fields, 'terms'),
    payment: readSignedPayment(fields, 'payment'),
    clientAddress: readText(fields, 'clientAddress'),
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
