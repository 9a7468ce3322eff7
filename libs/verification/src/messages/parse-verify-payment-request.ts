import type { VerifyPaymentRequest } from '@tollgate/common';
import { isAddress, isHash, isHexBytes, type Hex } from '@tollgate/protocol';

import {
  readBaseUnits,
  readHex,
  readKey,
  readNumber,
  readObject,
  readTextField,
  refuseField,
  type MessageFields,
} from './message-fields.js';

/** Four times the size of a proof header, so no signature in one can be longer. */
const MAX_SIGNATURE = 32_768;

/** Parses a message into a request with addresses and hashes in lower case. @throws MalformedMessageError */
export function parseVerifyPaymentRequest(message: unknown): VerifyPaymentRequest {
  const fields = readObject(message, 'message');
  const { reference, signature } = fields;
  return {
    requestId: readTextField(fields, 'requestId'),
    owner: readKey(fields, 'owner'),
    deadlineMs: readNumber(fields, 'deadlineMs'),
    network: readTextField(fields, 'network'),
    chainId: readNumber(fields, 'chainId'),
    asset: readHex(fields, 'asset', isAddress),
    payTo: readHex(fields, 'payTo', isAddress),
    priceBaseUnits: readBaseUnits(fields, 'priceBaseUnits'),
    txHash: readHex(fields, 'txHash', isHash),
    ...(isAbsent(reference) ? {} : { reference: parseReference(reference) }),
    ...(isAbsent(signature) ? {} : { signature: parseSignature(fields) }),
    fingerprint: readKey(fields, 'fingerprint'),
    retryKey: fields.retryKey === null ? null : readKey(fields, 'retryKey'),
    leaseMs: readNumber(fields, 'leaseMs'),
    clientAddress: readTextField(fields, 'clientAddress'),
  };
}

function parseReference(value: unknown): NonNullable<VerifyPaymentRequest['reference']> {
  const fields = readObject(value, 'reference');
  return {
    text: readTextField(fields, 'text'),
    issuedAtMs: readNumber(fields, 'issuedAtMs'),
    priceBaseUnits: readBaseUnits(fields, 'priceBaseUnits'),
  };
}

function parseSignature(fields: MessageFields): Hex {
  const signature = readHex(fields, 'signature', isHexBytes);
  return signature.length <= MAX_SIGNATURE ? signature : refuseField('signature');
}

const isAbsent = (value: unknown): boolean => value === undefined || value === null;
