import type { PayerSignature } from '@tollgate/chain';
import type { JobRecord, PlannedStep, StepRecord, JsonValue } from '@tollgate/journal';
import { MAX_UINT256, type Hex, type TransferAuthorization } from '@tollgate/protocol';
import { address, baseUnits, hash32, hexBytes, hexData, natural, parseMessage, signedPayment } from '@tollgate/schemas';
import { z } from 'zod';

import type { AuthorizationEntry, PaymentEntry } from './payment-entry.js';
import type { SimulatedTransaction } from './simulate.js';

const SETTLE_OPERATION = 'settle';
const SETTLE_PERMIT_OPERATION = 'settle-permit';

const payerSignature = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('account'), v: natural, r: hash32, s: hash32 }),
  z.object({
    kind: z.literal('contract'),
    bytes: hexBytes,
    isWrapped: z.boolean(),
    deployment: z.object({ to: address, data: hexData, codeHash: hash32.nullable() }).nullable(),
  }),
]) satisfies z.ZodType<PayerSignature>;

/** More would shift the fields of the calldata that follow. */
const uint256 = baseUnits.refine((value) => BigInt(value) <= MAX_UINT256);

const authorization = z.object({
  from: address,
  to: address,
  value: uint256,
  validAfter: uint256,
  validBefore: uint256,
  nonce: hash32,
}) satisfies z.ZodType<TransferAuthorization>;

/** What `payTo` receives. `forOther` is set where that is another seller. */
const moved = z.object({ amountBaseUnits: baseUnits, forOther: z.literal(true).exactOptional() });

/** The input of the job of one permit. */
const permitJob = moved.extend({
  payment: signedPayment.transform((payment, { issues }) => {
    if (payment.kind === 'permit2') return payment;
    issues.push({ code: 'custom', input: payment });
    return z.NEVER;
  }),
});

/** The input of the job of one or more authorizations. */
const authorizationsJob = z.object({
  entries: z.array(moved.extend({ asset: address, payTo: address, authorization, signature: payerSignature })),
});

/** The operation and input of a relayer's job in the journal: enough for any process to continue the job. */
export function encodeSettlementJob(entries: readonly PaymentEntry[]): { operation: string; input: JsonValue } {
  const [first] = entries;
  if (first?.kind === 'permit2') {
    const { payment, amountBaseUnits, forOther } = first;
    const input: z.output<typeof permitJob> = { payment, amountBaseUnits, ...(forOther && { forOther }) };
    return { operation: SETTLE_PERMIT_OPERATION, input: input as unknown as JsonValue };
  }
  const input: z.output<typeof authorizationsJob> = {
    entries: entries.filter(isAuthorization).map(({ kind: _, payer: __, ...entry }) => entry),
  };
  return { operation: SETTLE_OPERATION, input };
}

function isAuthorization(entry: PaymentEntry): entry is AuthorizationEntry {
  return entry.kind === 'authorization';
}

/** @throws MalformedMessageError when the record is not from `encodeSettlementJob` */
export function parseSettlementJob({ operation, input }: Pick<JobRecord, 'operation' | 'input'>): PaymentEntry[] {
  if (operation === SETTLE_PERMIT_OPERATION) {
    const { payment, ...job } = parseMessage(permitJob, input);
    const { from: payer, permitted, witness } = payment.permit2Authorization;
    return [{ kind: 'permit2', asset: permitted.token, payTo: witness.to, payer, payment, ...job }];
  }
  const { entries } = parseMessage(authorizationsJob, input);
  return entries.map((entry) => ({ kind: 'authorization', payer: entry.authorization.from, ...entry }));
}

const anyJob = z.object({ entries: z.unknown().optional() });

/** How many payments a job settles; a permit always has its own job. @throws MalformedMessageError for no job's input */
export function countPayments({ input }: Pick<JobRecord, 'input'>): number {
  const { entries } = parseMessage(anyJob, input);
  return Array.isArray(entries) ? entries.length : 1;
}

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
