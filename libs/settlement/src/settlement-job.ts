import type { ContractCall, PayerSignature } from '@tollgate/chain';
import {
  PlanFailure,
  type JobFailure,
  type JobPlan,
  type JobPlanner,
  type JobRecord,
  type PlannedStep,
  type JsonValue,
} from '@tollgate/journal';
import { type Hex, isAddress, isHash, isHexBytes, parseSignedPayment } from '@tollgate/protocol';
import { readBaseUnits, readHex, readNumber, readObject, refuseField } from '@tollgate/verification';

import type { AuthorizationEntry, PaymentEntry, PermitEntry } from './payments/payment-entry.js';
import type { SimulatedTransaction, Simulation } from './simulate.js';
import type { ContractWallets } from './state/contract-wallets.js';

const SETTLE_OPERATION = 'settle';
const SETTLE_PERMIT_OPERATION = 'settle-permit';

/** The operation and input of a relayer's job in the journal: enough for any process to continue the job. */
export function encodeSettlementJob(entries: readonly PaymentEntry[]): { operation: string; input: JsonValue } {
  const [first] = entries;
  if (first?.kind === 'permit2') {
    const { payment, amountBaseUnits } = first;
    return { operation: SETTLE_PERMIT_OPERATION, input: { payment, amountBaseUnits } as unknown as JsonValue };
  }
  return { operation: SETTLE_OPERATION, input: { entries: entries.filter(isAuthorization).map(encodeEntry) } };
}

function isAuthorization(entry: PaymentEntry): entry is AuthorizationEntry {
  return entry.kind === 'authorization';
}

function encodeEntry({ asset, payTo, amountBaseUnits, authorization, signature }: AuthorizationEntry): JsonValue {
  const signed = { authorization: { ...authorization }, signature: encodeSignature(signature) };
  return { asset, payTo, amountBaseUnits, ...signed };
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
  const terms = { asset: permitted.token, payTo: witness.to, payer };
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
    payer: payment.authorization.from,
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

/** A simulation younger than this is not repeated. */
const FRESH_MS = 5_000;

/**
 * Plans the single transaction of a relayer's job: from its recent simulation if there is one, otherwise from a new
 * one.
 */
export class SettlementPlanner implements JobPlanner {
  readonly #tried = new Map<string, { transaction: SimulatedTransaction; atMs: number }>();

  constructor(
    private readonly simulation: Simulation,
    private readonly wallets: Pick<ContractWallets, 'admit' | 'release'>,
    private readonly relayer: Hex,
  ) {}

  /** Keeps the simulation of a job that is being submitted. */
  remember(jobId: string, transaction: SimulatedTransaction): void {
    const nowMs = performance.now();
    for (const [oldId, { atMs }] of this.#tried) {
      if (nowMs - atMs < FRESH_MS) break;
      this.#tried.delete(oldId);
    }
    this.#tried.set(jobId, { transaction, atMs: nowMs });
  }

  async plan(job: JobRecord): Promise<JobPlan> {
    const transaction = this.#recall(job.id) ?? (await this.#simulate(job));
    if (!transaction) return this.#giveUp(job.id, NOTHING_TO_SETTLE);
    await this.#admit(job.id, transaction);
    return { steps: [stepFor(transaction)], preview: null, floorsHash: 'none', needsApproval: false };
  }

  /** A job that was launched holds its gas already; one planned later, as a permit or after a crash, does not. */
  async #admit(jobId: string, { walletCode: code, gas }: SimulatedTransaction): Promise<void> {
    const refusal = code && (await this.wallets.admit(jobId, { code, gas }));
    if (refusal === 'contract_wallets_busy')
      throw new Error('The gas budget of contract wallets is held by payments in flight. The job is retried.');
    if (refusal) await this.#giveUp(jobId, WALLET_REFUSED);
  }

  /** The job may hold gas from its launch, if it had to wait and is now planned again. */
  async #giveUp(jobId: string, failure: JobFailure): Promise<never> {
    await this.wallets.release(jobId);
    throw new PlanFailure(failure);
  }

  #recall(jobId: string): SimulatedTransaction | null {
    const tried = this.#tried.get(jobId);
    return tried && performance.now() - tried.atMs < FRESH_MS ? tried.transaction : null;
  }

  async #simulate(job: JobRecord): Promise<SimulatedTransaction | null> {
    const entries = parseSettlementJob(job);
    const [first, ...others] = entries;
    if (first && others.length === 0) return this.simulation.tryAlone(first, this.relayer);
    return (await this.simulation.tryShared(entries, this.relayer)).transaction;
  }
}

/** Stored in the journal, so that any process can tell what a mined step is. */
const WALLET_LABEL = "Settle a contract wallet's payment";

/** The only step of a job. */
export function stepFor({ call, gas, walletCode, entries: { length: count } }: SimulatedTransaction): PlannedStep {
  const label = count === 1 ? 'Settle a payment' : `Settle ${count} payments`;
  return { ...call, label: walletCode === null ? label : WALLET_LABEL, value: 0n, gas };
}

/** Whether the payer's code runs in the step, so that its gas is held in the budget. */
export function isOfContractWallet({ label }: Pick<PlannedStep, 'label'>): boolean {
  return label === WALLET_LABEL;
}

const NOTHING_TO_SETTLE = {
  code: 'NOTHING_TO_SETTLE',
  message: 'None of the payments can be settled in the current state of the chain.',
  suggestion: 'Nothing was sent. Each payer gets the reason with its next request.',
};

const WALLET_REFUSED = {
  code: 'CONTRACT_WALLET_REFUSED',
  message: 'This contract wallet may not have gas spent on it now.',
  suggestion: 'Nothing was sent. The payer may pay from an account without code.',
};
