import type { Deployment, PayerSignature } from '@tollgate/chain';
import type { JobRecord, PlannedStep, StepRecord, JsonValue } from '@tollgate/journal';
import { type Hex, isAddress, isHash, isHexBytes, parseSignedPayment } from '@tollgate/protocol';
import { readBaseUnits, readHex, readNumber, readObject, refuseField } from '@tollgate/verification';

import type { AuthorizationEntry, PaymentEntry, PermitEntry } from './payment-entry.js';
import type { SimulatedTransaction } from './simulate.js';

const SETTLE_OPERATION = 'settle';
const SETTLE_PERMIT_OPERATION = 'settle-permit';

/** The operation and input of a relayer's job in the journal: enough for any process to continue the job. */
export function encodeSettlementJob(entries: readonly PaymentEntry[]): { operation: string; input: JsonValue } {
  const [first] = entries;
  if (first?.kind === 'permit2') {
    const { payment, amountBaseUnits, forOther } = first;
    const input = { payment, amountBaseUnits, ...(forOther && { forOther }) };
    return { operation: SETTLE_PERMIT_OPERATION, input: input as unknown as JsonValue };
  }
  return { operation: SETTLE_OPERATION, input: { entries: entries.filter(isAuthorization).map(encodeEntry) } };
}

function isAuthorization(entry: PaymentEntry): entry is AuthorizationEntry {
  return entry.kind === 'authorization';
}

function encodeEntry({
  asset,
  payTo,
  forOther,
  amountBaseUnits,
  authorization,
  signature,
}: AuthorizationEntry): JsonValue {
  const signed = { authorization: { ...authorization }, signature: encodeSignature(signature) };
  return { asset, payTo, ...(forOther && { forOther }), amountBaseUnits, ...signed };
}

function encodeSignature(signature: PayerSignature): JsonValue {
  return signature.kind === 'account'
    ? { ...signature }
    : { ...signature, deployment: signature.deployment && { ...signature.deployment } };
}

/** @throws MalformedMessageError or PaymentError when the record is not from `encodeSettlementJob` */
export function parseSettlementJob({ operation, input }: Pick<JobRecord, 'operation' | 'input'>): PaymentEntry[] {
  const fields = readObject(input, 'input');
  if (operation === SETTLE_PERMIT_OPERATION) return [parsePermit(fields)];
  return Array.isArray(fields.entries) ? fields.entries.map(parseEntry) : refuseField('entries');
}

/** How many payments a job settles; a permit always has its own job. */
export function countPayments({ input }: Pick<JobRecord, 'input'>): number {
  const { entries } = readObject(input, 'input');
  return Array.isArray(entries) ? entries.length : 1;
}

function parsePermit(fields: Record<string, unknown>): PermitEntry {
  const payment = parseSignedPayment(fields.payment);
  if (payment.kind !== 'permit2') return refuseField('payment');
  const { from: payer, permitted, witness } = payment.permit2Authorization;
  const terms = { asset: permitted.token, payTo: witness.to, ...readSeller(fields), payer };
  return { kind: 'permit2', ...terms, amountBaseUnits: readBaseUnits(fields, 'amountBaseUnits'), payment };
}

function parseEntry(value: unknown): AuthorizationEntry {
  const fields = readObject(value, 'entry');
  // The signature has its own format and is parsed separately.
  const payment = parseSignedPayment({ authorization: fields.authorization, signature: '0x00' });
  if (payment.kind !== 'authorization') return refuseField('authorization');
  return {
    kind: 'authorization',
    asset: readHex(fields, 'asset', isAddress),
    payTo: readHex(fields, 'payTo', isAddress),
    ...readSeller(fields),
    payer: payment.authorization.from,
    amountBaseUnits: readBaseUnits(fields, 'amountBaseUnits'),
    authorization: payment.authorization,
    signature: parseSignature(fields.signature),
  };
}

function readSeller({ forOther }: Record<string, unknown>): Pick<PaymentEntry, 'forOther'> {
  return forOther === true ? { forOther } : {};
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
        deployment: fields.deployment === null ? null : parseDeployment(fields.deployment),
      };
    default:
      return refuseField('signature');
  }
}

function parseDeployment(value: unknown): Deployment {
  const fields = readObject(value, 'deployment');
  return {
    to: readHex(fields, 'to', isAddress),
    data: readHex(fields, 'data', isCalldata),
    codeHash: fields.codeHash === null ? null : readHex(fields, 'codeHash', isHash),
  };
}

const isCalldata = (value: unknown): value is Hex => value === '0x' || isHexBytes(value);

/** Stored in the journal, so that any process can tell what a mined step is. */
const WALLET_LABEL = "Settle a contract wallet's payment";

/** The only step of a job. */
export function stepFor({ call, gas, running, entries: { length: count } }: SimulatedTransaction): PlannedStep {
  const label = count === 1 ? 'Settle a payment' : `Settle ${count} payments`;
  return { ...call, label: running === null ? label : WALLET_LABEL, value: 0n, gas };
}

/** The mined transaction that was to settle the step's payments; null also for a cancel, which only uses up the nonce. */
export function minedSettlementOf({ attempts, mined }: Pick<StepRecord, 'attempts' | 'mined'>): Hex | null {
  if (mined === null) return null;
  return attempts.some(({ kind, hash }) => kind === 'cancel' && hash === mined.hash) ? null : mined.hash;
}

/** Whether the payer's code runs in the step, so that its gas is held in the budget. */
export function isOfContractWallet({ label }: Pick<PlannedStep, 'label'>): boolean {
  return label === WALLET_LABEL;
}
