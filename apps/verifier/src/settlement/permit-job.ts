import { hash } from 'node:crypto';

import { type ContractCall, planPermitTransfer, unwrapSignature } from '@tollgate/chain';
import type { JobRecord, JsonValue } from '@tollgate/journal';
import { parseSignedPayment, type Hex, type SignedPermit } from '@tollgate/protocol';

import { readBaseUnits, readObject, refuseField } from '../message-fields.js';

/** The `operation` of a relayer's jobs that settle one permit each. */
export const SETTLE_PERMIT_OPERATION = 'settle-permit';

/** The job's input in the journal: enough for any process to continue the job. */
export function encodePermitJob(payment: SignedPermit, amountBaseUnits: string): JsonValue {
  return { payment, amountBaseUnits } as unknown as JsonValue;
}

/**
 * The call that a job makes, and the payer whose permit it settles.
 * @throws MalformedMessageError or PaymentError when the record is not from `encodePermitJob`
 */
export function readPermitJob({ input }: Pick<JobRecord, 'input'>): { call: ContractCall; payer: Hex } {
  const fields = readObject(input, 'input');
  const payment = parseSignedPayment(fields.payment);
  if (payment.kind !== 'permit2') return refuseField('payment');
  const amount = BigInt(readBaseUnits(fields, 'amountBaseUnits'));
  const call = planPermitTransfer({ ...payment, signature: toPermit2(payment.signature) }, amount);
  return { call, payer: payment.permit2Authorization.from };
}

/** A name for a permit, in 22 characters, independent of the amount to move: a permit is settled once. */
export function namePermitSettlement(chainId: number, payTo: Hex, payment: SignedPermit): string {
  const signed = JSON.stringify(payment.permit2Authorization);
  const parts = [chainId, payTo, payment.kind, payment.scheme, signed];
  return Buffer.from(hash('sha256', parts.join(' '), 'hex').slice(0, 32), 'hex').toString('base64url');
}

/**
 * The signature in the form that was simulated: some wallets wrap what Permit2 accepts (EIP-6492), some write the bare
 * recovery bit.
 */
function toPermit2(signature: Hex): Hex {
  const wrapped = unwrapSignature(signature);
  if (wrapped !== null) return wrapped.bytes;
  const last = signature.length === 2 + 2 * 65 ? Number.parseInt(signature.slice(-2), 16) : 27;
  return last < 2 ? `0x${signature.slice(2, -2)}${(last + 27).toString(16)}` : signature;
}
