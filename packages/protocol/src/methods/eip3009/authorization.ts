import { isHash, type Hex } from '../../wire/hex.js';
import type { JsonRecord } from '../../wire/json-record.js';
import { parseAddressField, parseHexField, parseObjectField, parseUintField } from '../signed-fields.js';
import { createValidity, type SignedTransferTerms } from '../transfer-terms.js';

/**
 * The terms of an EIP-3009 `transferWithAuthorization` as its payer signed it. Amounts are base units, times seconds,
 * as decimal text.
 */
export interface TransferAuthorization {
  from: Hex;
  to: Hex;
  value: string;
  validAfter: string;
  validBefore: string;
  /** 32 bytes that the token accepts once per payer. */
  nonce: Hex;
}

/** An EIP-3009 transfer signed by its payer. */
export interface SignedAuthorization {
  kind: 'authorization';
  authorization: TransferAuthorization;
  /**
   * 65 bytes from an account; any other length from a contract (EIP-1271), wrapped if it is not deployed yet
   * (EIP-6492).
   */
  signature: Hex;
}

export function parseAuthorization(payload: JsonRecord): TransferAuthorization {
  const value = parseObjectField(payload, 'authorization');
  return {
    from: parseAddressField(value, 'from'),
    to: parseAddressField(value, 'to'),
    value: parseUintField(value, 'value'),
    validAfter: parseUintField(value, 'validAfter'),
    validBefore: parseUintField(value, 'validBefore'),
    nonce: parseHexField(value, 'nonce', isHash, '32 bytes'),
  };
}

/** The EIP-3009 authorization for a payer to sign. No tokens move until the server has it settled. */
export function createTransferAuthorization(terms: SignedTransferTerms): TransferAuthorization {
  const { from, payTo: to, amount: value, nonce } = terms;
  return { from, to, value, ...createValidity(terms), nonce };
}
