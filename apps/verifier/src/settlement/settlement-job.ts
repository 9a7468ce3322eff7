import type { ContractCall, PayerSignature } from '@tollgate/chain';
import type { JobRecord, JsonValue } from '@tollgate/journal';
import { isAddress, isHash, isHexBytes, parseSignedPayment, type Hex } from '@tollgate/protocol';

import { readBaseUnits, readHex, readNumber, readObject, refuseField } from '../message-fields.js';
import type { SettlementEntry } from './settlement-entry.js';

/** The `operation` of a relayer's jobs that settle authorizations. */
export const SETTLE_OPERATION = 'settle';

/** The job's input in the journal: enough for any process to continue the job. */
export function encodeSettlementJob(entries: readonly SettlementEntry[]): JsonValue {
  return {
    entries: entries.map(({ authorization, signature, ...entry }) => ({
      ...entry,
      authorization: { ...authorization },
      signature: encodeSignature(signature),
    })),
  };
}

function encodeSignature(signature: PayerSignature): JsonValue {
  return signature.kind === 'account'
    ? { ...signature }
    : { ...signature, deployment: signature.deployment && { ...signature.deployment } };
}

/** @throws MalformedMessageError or PaymentError when the record is not from `encodeSettlementJob` */
export function parseSettlementJob({ input }: Pick<JobRecord, 'input'>): SettlementEntry[] {
  const { entries } = readObject(input, 'input');
  return Array.isArray(entries) ? entries.map(parseEntry) : refuseField('entries');
}

/** How many payments a job settles; a permit always has its own job. */
export function countPayments({ input }: Pick<JobRecord, 'input'>): number {
  const { entries } = readObject(input, 'input');
  return Array.isArray(entries) ? entries.length : 1;
}

function parseEntry(value: unknown): SettlementEntry {
  const fields = readObject(value, 'entry');
  // The signature has its own format and is parsed separately.
  const payment = parseSignedPayment({ authorization: fields.authorization, signature: '0x00' });
  if (payment.kind !== 'authorization') return refuseField('authorization');
  return {
    asset: readHex(fields, 'asset', isAddress),
    payTo: readHex(fields, 'payTo', isAddress),
    amountBaseUnits: readBaseUnits(fields, 'amountBaseUnits'),
    authorization: payment.authorization,
    signature: parseSignature(fields.signature),
  };
}

function parseSignature(value: unknown): PayerSignature {
  const fields = readObject(value, 'signature');
  switch (fields.kind) {
    case 'account':
      return {
        kind: fields.kind,
        v: readNumber(fields, 'v'),
        r: readHex(fields, 'r', isHash),
        s: readHex(fields, 's', isHash),
      };
    case 'contract':
      return {
        kind: fields.kind,
        bytes: readHex(fields, 'bytes', isHexBytes),
        isWrapped: fields.isWrapped === true,
        deployment: fields.deployment === null ? null : parseCall(fields.deployment),
      };
    default:
      return refuseField('signature');
  }
}

function parseCall(value: unknown): ContractCall {
  const fields = readObject(value, 'deployment');
  return { to: readHex(fields, 'to', isAddress), data: readHex(fields, 'data', isCalldata) };
}

const isCalldata = (value: unknown): value is Hex => value === '0x' || isHexBytes(value);
