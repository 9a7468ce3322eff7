import type { SettleSignedPaymentRequest, SignedPaymentTerms } from '@tollgate/common';
import { parseSignedPayment, PaymentError, isAddress } from '@tollgate/protocol';

import { MalformedMessageError, readBaseUnits, readHex, readNumber, readObject, readText } from '../message-fields.js';

/** Unknown to a request with addresses and hashes in lower case, or throws MalformedMessageError. */
export function parseSettleRequest(message: unknown): SettleSignedPaymentRequest {
  const fields = readObject(message, 'message');
  return {
    requestId: readText(fields, 'requestId'),
    deadlineMs: readNumber(fields, 'deadlineMs'),
    terms: parseTerms(fields.terms),
    payment: parsePayment(fields.payment),
    amountBaseUnits: readBaseUnits(fields, 'amountBaseUnits'),
  };
}

function parseTerms(value: unknown): SignedPaymentTerms {
  const fields = readObject(value, 'terms');
  return {
    chainId: readNumber(fields, 'chainId'),
    asset: readHex(fields, 'asset', isAddress),
    assetName: readText(fields, 'assetName'),
    assetVersion: readText(fields, 'assetVersion'),
    payTo: readHex(fields, 'payTo', isAddress),
    priceBaseUnits: readBaseUnits(fields, 'priceBaseUnits'),
  };
}

function parsePayment(value: unknown): SettleSignedPaymentRequest['payment'] {
  try {
    return parseSignedPayment(value);
  } catch (error) {
    if (error instanceof PaymentError) throw new MalformedMessageError(error.message);
    throw error;
  }
}
