import type { JobRecord, PlannedStep, StepRecord, JsonValue } from '@tollgate/journal';
import type { Hex } from '@tollgate/protocol';
import { MalformedMessageError, parseMessage } from '@tollgate/schemas';
import { z } from 'zod';

import { settlementMethods } from './methods/registry.js';
import type { PaymentEntry } from './payment-entry.js';
import type { SimulatedTransaction } from './simulate.js';

/** The operation and input of a relayer's job in the journal: enough for any process to continue the job. */
export function encodeSettlementJob(entries: readonly PaymentEntry[]): { operation: string; input: JsonValue } {
  const [first] = entries;
  if (first === undefined) throw new Error('a job settles one payment at least');
  const method = settlementMethods.of(first.payment);
  return { operation: method.operation, input: method.encodeJob(entries) };
}

/** @throws MalformedMessageError when the record is not from `encodeSettlementJob` */
export function parseSettlementJob({ operation, input }: Pick<JobRecord, 'operation' | 'input'>): PaymentEntry[] {
  for (const method of settlementMethods.all()) if (method.operation === operation) return method.parseJob(input);
  throw new MalformedMessageError(`No payment is settled by the operation ${operation}.`);
}

const anyJob = z.object({ entries: z.unknown().optional() });

/** How many payments a job settles; one alone needs no list of entries. @throws MalformedMessageError for no job's input */
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
