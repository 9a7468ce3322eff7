import { isAddress, parseSignedPayment, type SignedAuthorization } from '@tollgate/protocol';
import type { JobRecord, JsonValue } from '@tollgate/transactions';

import { readBaseUnits, readHex, readObject, refuseField } from '../message-fields.js';
import type { SettlementEntry } from './settlement-entry.js';

/** The `operation` of a relayer's jobs; no lane of theirs holds another. */
export const SETTLE_OPERATION = 'settle';

/** What a job's record keeps: enough to carry it on in any process. */
export function encodeSettlementJob(entries: readonly SettlementEntry[]): JsonValue {
  return { entries: entries.map((entry) => ({ ...entry, payment: { ...entry.payment } })) } as unknown as JsonValue;
}

/** @throws MalformedMessageError or PaymentError when the record is not what `encodeSettlementJob` made */
export function parseSettlementJob({ input }: Pick<JobRecord, 'input'>): SettlementEntry[] {
  const { entries } = readObject(input, 'input');
  return (Array.isArray(entries) ? (entries as unknown[]) : []).map((value) => {
    const fields = readObject(value, 'entry');
    return {
      asset: readHex(fields, 'asset', isAddress),
      payTo: readHex(fields, 'payTo', isAddress),
      amountBaseUnits: readBaseUnits(fields, 'amountBaseUnits'),
      payment: parseAuthorization(fields.payment),
    };
  });
}

function parseAuthorization(value: unknown): SignedAuthorization {
  const payment = parseSignedPayment(value);
  return payment.kind === 'authorization' ? payment : refuseField('payment');
}
