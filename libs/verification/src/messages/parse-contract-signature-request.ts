import type { VerifyContractSignatureRequest } from '@tollgate/common';
import { isAddress, isHash, isHexBytes, MAX_SIGNATURE_BYTES } from '@tollgate/protocol';

import { readHex, readNumber, readObject, readTextField, refuseField } from './message-fields.js';

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
