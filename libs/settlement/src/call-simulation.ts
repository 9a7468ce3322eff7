import { setTimeout as sleep } from 'node:timers/promises';

import {
  askForCode,
  askForNativeBalance,
  askLater,
  type CallPlace,
  canPay,
  chainBehind,
  type ContractCall,
  estimateSentCall,
  type FeeQuotes,
  hasContractFailed,
  LATEST,
  MISSING,
  parseQuantity,
  readCall,
  readCode,
  type RpcBatcher,
  type RpcCall,
  type RpcResult,
  type SentCall,
  trySentCall,
  valueOf,
  RPC_TIMEOUT_MS,
} from '@tollgate/chain';
import type { QuotedFees, Hex } from '@tollgate/protocol';
import { findRunningCode, type RunningCode, type WalletBudget } from '@tollgate/verification';

import type { PaymentEntry } from './payment-entry.js';

export interface CallSimulationOptions {
  batcher: RpcBatcher;
  fees: Pick<FeeQuotes, 'read'>;
  /** For one payment; with its payer's wallet, where that is deployed too. */
  gasCaps: Readonly<Record<WalletBudget, bigint>>;
  /** Returns the time of Redis's clock. */
  nowMs: () => number;
}

export interface SendableCall {
  call: ContractCall;
  /** The gas limit of the transaction. */
  gas: bigint;
  /** Null when only the token's code runs. */
  running: RunningCode | null;
}

const MARGIN_PERCENT = 20n;
/** How often a payment that has just become valid asks for the next block, and for how long. */
const LOOK_AGAIN_MS = 250;
const WAIT_FOR_BLOCK_MS = RPC_TIMEOUT_MS;

/** What must be known of a payment beside the call that settles it. */
interface SimulatedPayment {
  payer: Hex;
  /** Deploys a payer that has no code yet. */
  factory: Hex | null;
  /** In Unix seconds, as decimal text. */
  validAfter: string;
}

interface Estimate {
  /** Null when the call fails. */
  estimate: bigint | null;
  payerCode: Hex;
  /** The fees at which it was estimated. */
  fees: QuotedFees | null;
}

/** Simulates one payment's call as its relayer will send it: from its account, at its gas price, with its gas limit. */
export class CallSimulation {
  constructor(private readonly options: CallSimulationOptions) {}

  /**
   * Null when the call fails. On a quiet chain the newest block may be older than the start of the payment's validity; it
   * then waits until the next one, as the server has it, is not.
   * @param factory deploys a payer that has no code yet
   * @throws ChainUnavailableError also when that takes too long
   */
  async run(
    call: ContractCall,
    { relayer, ...payment }: SimulatedPayment & { relayer: Hex },
  ): Promise<SendableCall | null> {
    const { gasCaps, nowMs } = this.options;
    const gas = gasCaps[payment.factory === null ? 'calls' : 'deployments'];
    const sent: SentCall = { ...call, from: relayer, gas, fees: await this.options.fees.read() };
    const sendable = await this.#runAt(LATEST, sent, payment);
    if (sendable !== null) return sendable;
    const untilMs = nowMs() + WAIT_FOR_BLOCK_MS;
    for (;;) {
      const place = await this.#findPlace(sent, payment.validAfter);
      if (place === null) return null;
      const later = place === 'later' ? null : await this.#runAt(place, sent, payment);
      // It may have failed beside transactions in the pending block that will never be mined.
      if (later !== null || place === LATEST) return later;
      if (nowMs() + LOOK_AGAIN_MS >= untilMs) throw chainBehind();
      await sleep(LOOK_AGAIN_MS);
    }
  }

  /** Null when the call fails in that block. */
  async #runAt(
    place: CallPlace,
    sent: SentCall,
    { payer, factory }: Pick<SimulatedPayment, 'payer' | 'factory'>,
  ): Promise<SendableCall | null> {
    const { estimate, payerCode, fees } = await this.#estimate(sent, payer, place);
    if (estimate === null || estimate > sent.gas) return null;
    const gas = least((estimate * (100n + MARGIN_PERCENT)) / 100n, sent.gas);
    const running = findRunningCode({ payerCode: factory === null ? payerCode : '0x', factory });
    // The estimate ran with another gas limit than the transaction will have, and the payer's code can see that.
    if (running !== null && !(await this.#succeeds({ ...sent, gas, fees }, place))) return null;
    const { to, data } = sent;
    return { call: { to, data }, gas, running };
  }

  /** Where a call that has failed in the newest block can be sent; null when it fails for another reason than its time. */
  async #findPlace(sent: SentCall, validAfter: string): Promise<CallPlace | 'later' | null> {
    const { batcher, nowMs } = this.options;
    // Without fees: the relayer may have too little coin, which does not count against the payment.
    const later = askLater(trySentCall({ ...sent, fees: null }, LATEST), { validAfter, nowMs: nowMs() });
    const simulation = await batcher.ask({ ...later, deadlineMs: nowMs() + RPC_TIMEOUT_MS });
    if (simulation.outcome === 'fails') return null;
    return (simulation.outcome === 'succeeds' && simulation.sendableAt) || 'later';
  }

  /**
   * `fees` is also null when the relayer cannot pay for that much gas. That does not count against the payment, which
   * then waits until the relayer has coin.
   */
  async #estimate(sent: SentCall, payer: Hex, place: CallPlace): Promise<Estimate> {
    const calls = [estimateSentCall(sent, place), askForCode(payer), askForNativeBalance(sent.from)];
    const estimate = await this.#ask(calls, ([estimated = MISSING, code, balance]) => {
      // Nodes report a low balance with the same words as a call that itself takes too much gas.
      if (!canPay(sent, balance)) return null;
      return { estimate: readEstimate(estimated), payerCode: readCode(code), fees: sent.fees };
    });
    return estimate ?? this.#estimate({ ...sent, fees: null }, payer, place);
  }

  #succeeds(sent: SentCall, place: CallPlace): Promise<boolean> {
    return this.#ask([trySentCall(sent, place)], ([result]) => readCall(result) !== null);
  }

  #ask<T>(calls: readonly RpcCall[], read: (results: readonly RpcResult[]) => T): Promise<T> {
    const { batcher, nowMs } = this.options;
    return batcher.ask({ calls, deadlineMs: nowMs() + RPC_TIMEOUT_MS, read });
  }
}

function readEstimate(result: RpcResult): bigint | null {
  return hasContractFailed(result) ? null : BigInt(parseQuantity(valueOf(result, 'eth_estimateGas'), 'gas'));
}

/** Gas that a transaction takes before it makes any call. */
const BASE_GAS = 21_000n;
/** Allows for a recipient or payer that is new to the token. */
const SLACK_PERCENT = 35n;
/** The slack where several payments share a transaction that is not simulated. */
const UNSIMULATED_SLACK_PERCENT = 100n;

/**
 * The gas that settling one payment takes, by its method and token, learned from receipts: estimating each time would run
 * every payment a dozen times. A value that is too low shows in the simulation, before anything is sent.
 */
export class GasMemory {
  readonly #bySort = new Map<string, bigint>();

  /** @param cap for one payment, and for sorts of payments not learned yet */
  constructor(private readonly cap: bigint) {}

  /**
   * The gas limit for a transaction that settles these payments, at most `mostGas`. That may be too low for a job that was
   * made where they were learned; the simulation shows it.
   */
  limitFor(entries: readonly PaymentEntry[], mostGas: bigint): bigint {
    return least(this.#add(entries, SLACK_PERCENT), mostGas);
  }

  /** The same when the transaction as a whole is not simulated; null while one is not learned yet, or for too many. */
  limitForUnsimulated(entries: readonly PaymentEntry[], mostGas: bigint): bigint | null {
    const isKnown =
      entries.every((entry) => this.#bySort.has(sortOf(entry))) &&
      this.countFitting(entries, mostGas) === entries.length;
    return isKnown ? this.#add(entries, UNSIMULATED_SLACK_PERCENT) : null;
  }

  /** How many of these payments, in their order, fit into a transaction with `mostGas`; one at least. */
  countFitting(entries: readonly PaymentEntry[], mostGas: bigint): number {
    let left = mostGas - BASE_GAS;
    const tooMuch = entries.findIndex((entry) => (left -= this.#limitForOne(entry, UNSIMULATED_SLACK_PERCENT)) < 0n);
    return tooMuch === -1 ? entries.length : Math.max(tooMuch, 1);
  }

  #add(entries: readonly PaymentEntry[], slackPercent: bigint): bigint {
    return entries.reduce((sum, entry) => sum + this.#limitForOne(entry, slackPercent), BASE_GAS);
  }

  #limitForOne(entry: PaymentEntry, slackPercent: bigint): bigint {
    const known = this.#bySort.get(sortOf(entry));
    return known === undefined ? this.cap : least((known * (100n + slackPercent)) / 100n, this.cap);
  }

  /** Learns from a transaction that settled these payments, if they are all of one sort. */
  learn(entries: readonly PaymentEntry[], gasUsed: bigint): void {
    const [sort, ...others] = new Set(entries.map(sortOf));
    if (sort === undefined || others.length > 0) return;
    const each = (gasUsed - BASE_GAS) / BigInt(entries.length) + 1n;
    const known = this.#bySort.get(sort);
    if (known === undefined || each > known) this.#bySort.set(sort, each);
  }
}

function sortOf({ asset, payment }: PaymentEntry): string {
  return `${payment.kind} ${asset}`;
}

function least(one: bigint, other: bigint): bigint {
  return one < other ? one : other;
}
