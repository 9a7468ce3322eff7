import type {
  VerifyPaymentRequest,
  VerifySignedPaymentRequest,
  VerifyContractSignatureRequest,
} from '@tollgate/common';
import { isAddress, isHash, isHexBytes, type Hex, MAX_SIGNATURE_BYTES } from '@tollgate/protocol';

import {
  readBaseUnits,
  readHex,
  readKey,
  readNumber,
  readObject,
  readTextField,
  refuseField,
  type MessageFields,
  readSignedPaymentQuestion,
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

/** Parses a message into a request with hexadecimal text in lower case. @throws MalformedMessageError */
export function parseContractSignatureRequest(message: unknown): VerifyContractSignatureRequest {
  const fields = readObject(message, 'message');
  const signature = readHex(fields, 'signature', isHexBytes);
  return {
    requestId: readTextField(fields, 'requestId'),
    deadlineMs: readNumber(fields, 'deadlineMs'),
    chainId: readNumber(fields, 'chainId'),
    signer: readHex(fields, 'signer', isAddress),
    hash: readHex(fields, 'hash', isHash),
    // A gateway of an earlier release sends no address: all its clients share one.
    clientAddress: fields.clientAddress === undefined ? '' : readTextField(fields, 'clientAddress'),
    signature: signature.length <= 2 + 2 * MAX_SIGNATURE_BYTES ? signature : refuseField('signature'),
  };
}
