import {
  askForCode,
  bundleCalls,
  factoryOf,
  hasCode,
  malformed,
  readBundle,
  readCall,
  type RpcCall,
  type RpcResult,
  tryCall,
  RPC_TIMEOUT_MS,
} from '@tollgate/chain';
import type { Hex } from '@tollgate/protocol';

import { isShareable, planEntry, type PaymentEntry } from '../payments/payment-entry.js';
import { CallSimulation, type CallSimulationOptions, type SendableCall } from './call-simulation.js';

/** A transaction that was simulated and may be sent. */
export interface SimulatedTransaction extends SendableCall {
  entries: readonly PaymentEntry[];
}

/** Why a payment cannot share a transaction; it may still succeed alone. */
export type Exclusion = 'fails' | 'payer_has_code';

export interface BatchSimulation {
  transaction: SimulatedTransaction | null;
  excluded: ReadonlyMap<PaymentEntry, Exclusion>;
}

export interface SimulationOptions extends CallSimulationOptions {
  multicall3: Hex;
  gas: GasMemory;
}

const LOOK_FOR_MULTICALL3_MS = 60_000;

/** Simulates settlements in the current state of the chain, so that a failing one is not sent and burns no gas. */
export class Simulation {
  #hasMulticall3: Promise<boolean> | null = null;
  #askedAtMs = -Infinity;
  readonly #callSimulation: CallSimulation;

  constructor(private readonly options: SimulationOptions) {
    this.#callSimulation = new CallSimulation(options);
  }

  /** Whether several payments can share a transaction on this chain. */
  async canShare(): Promise<boolean> {
    const isStale = performance.now() - this.#askedAtMs > LOOK_FOR_MULTICALL3_MS;
    if (this.#hasMulticall3 !== null && ((await this.#hasMulticall3) || !isStale)) return this.#hasMulticall3;
    this.#askedAtMs = performance.now();
    const asked = this.#readHasCode(this.options.multicall3);
    this.#hasMulticall3 = asked;
    asked.catch(() => (this.#hasMulticall3 = null));
    return asked;
  }

  /**
   * Simulates payments by accounts' own keys as one transaction, in one round trip. Payments that fail are left out,
   * and so are those of payers with code, which could burn the gas of all. No gas price is given, since only the
   * token's code runs.
   * @param areTried each was simulated a moment ago; the result is then assumed, if the gas of their tokens is known
   * @throws ChainUnavailableError
   */
  async tryShared(entries: readonly PaymentEntry[], relayer: Hex, areTried = false): Promise<BatchSimulation> {
    const assumedGas = areTried ? this.options.gas.limitForUntried(entries.map(({ asset }) => asset)) : null;
    if (assumedGas !== null && entries.every(isShareable)) {
      return { transaction: this.#bundle(entries, assumedGas), excluded: new Map() };
    }
    const shareable = entries.filter(isShareable);
    const gas = this.options.gas.limitFor(shareable.map(({ asset }) => asset));
    const [withCode, succeeds] = await Promise.all([
      this.#findPayersWithCode(shareable),
      this.#tryAll(shareable, relayer, gas),
    ]);
    const excluded = new Map<PaymentEntry, Exclusion>();
    for (const entry of entries) if (!isShareable(entry)) excluded.set(entry, 'payer_has_code');
    for (const [index, entry] of shareable.entries()) {
      if (withCode.has(entry.payer)) excluded.set(entry, 'payer_has_code');
      else if (!succeeds[index]) excluded.set(entry, 'fails');
    }
    const rest = shareable.filter((entry) => !excluded.has(entry));
    return { transaction: rest.length === 0 ? null : this.#bundle(rest, gas), excluded };
  }

  /** The same shared transaction for some of its payments only. */
  narrow({ gas }: SimulatedTransaction, entries: readonly PaymentEntry[]): SimulatedTransaction {
    return this.#bundle(entries, gas);
  }

  /**
   * Simulates one payment alone, within the gas cap. Null when it fails, both now and in the next block.
   * @throws ChainUnavailableError
   */
  async tryAlone(entry: PaymentEntry, relayer: Hex): Promise<SimulatedTransaction | null> {
    const factory = entry.kind === 'authorization' ? factoryOf(entry.signature) : null;
    const isDeployed = factory === null || (await this.#readHasCode(entry.payer));
    const call = planEntry(entry, { multicall3: this.options.multicall3, isDeployed });
    const tried = await this.#callSimulation.run(call, { payer: entry.payer, relayer, factory });
    return tried && { ...tried, entries: [entry] };
  }

  /** One transaction in which only the tokens' code runs. */
  #bundle(entries: readonly PaymentEntry[], gas: bigint): SimulatedTransaction {
    const { multicall3 } = this.options;
    const calls = entries.map((entry) => planEntry(entry, { multicall3, isDeployed: true }));
    const [first] = calls;
    const call =
      first && calls.length === 1
        ? first
        : bundleCalls(
            multicall3,
            calls.map((each) => ({ ...each, mayFail: true })),
          );
    return { entries, call, gas, walletCode: null };
  }

  #tryAll(entries: readonly PaymentEntry[], from: Hex, gas: bigint): Promise<boolean[]> {
    if (entries.length === 0) return Promise.resolve([]);
    const { call } = this.#bundle(entries, gas);
    return this.#ask([tryCall({ from, ...call, gas: Number(gas) })], ([result]) => {
      const data = readCall(result);
      if (data === null) return entries.map(() => false);
      if (entries.length === 1) return [true];
      return readBundle(data, entries.length) ?? malformed('no results of the bundled calls');
    });
  }

  #findPayersWithCode(entries: readonly PaymentEntry[]): Promise<ReadonlySet<Hex>> {
    const payers = [...new Set(entries.map(({ payer }) => payer))];
    if (payers.length === 0) return Promise.resolve(new Set());
    return this.#ask(
      payers.map(askForCode),
      (results) => new Set(payers.filter((_, index) => hasCode(results[index]))),
    );
  }

  #readHasCode(address: Hex): Promise<boolean> {
    return this.#ask([askForCode(address)], ([result]) => hasCode(result));
  }

  #ask<T>(calls: readonly RpcCall[], read: (results: readonly RpcResult[]) => T): Promise<T> {
    return this.options.batcher.ask({ calls, deadlineMs: this.options.nowMs() + RPC_TIMEOUT_MS, read });
  }
}

/** Gas that a transaction takes before it makes any call. */
const BASE_GAS = 21_000n;
/** Allows for a recipient or payer that is new to the token. */
const SLACK_PERCENT = 35n;
/** The same for several of them in one transaction that is not simulated. */
const UNTRIED_SLACK_PERCENT = 100n;

/**
 * The gas that settling one payment takes, by token, learned from receipts: estimating each time would run every
 * payment a dozen times. A value that is too low shows in the simulation, before anything is sent.
 */
export class GasMemory {
  readonly #byAsset = new Map<Hex, bigint>();

  /** @param cap for one payment, and for tokens not learned yet */
  constructor(private readonly cap: bigint) {}

  /** The gas limit for a transaction that settles one payment in each of these tokens. */
  limitFor(assets: readonly Hex[]): bigint {
    return this.#add(
      assets.map((asset) => this.#byAsset.get(asset) ?? this.cap),
      SLACK_PERCENT,
    );
  }

  /** The same when the transaction as a whole is not simulated; null while a token is not learned yet. */
  limitForUntried(assets: readonly Hex[]): bigint | null {
    const known = assets.flatMap((asset) => this.#byAsset.get(asset) ?? []);
    return known.length < assets.length ? null : this.#add(known, UNTRIED_SLACK_PERCENT);
  }

  #add(own: readonly bigint[], slackPercent: bigint): bigint {
    return BASE_GAS + own.reduce((sum, gas) => sum + least((gas * (100n + slackPercent)) / 100n, this.cap), 0n);
  }

  /** Learns from a transaction that settled one payment in each of these tokens, if they are all the same. */
  learn(assets: readonly Hex[], gasUsed: bigint): void {
    const [asset, ...others] = new Set(assets);
    if (asset === undefined || others.length > 0) return;
    const each = (gasUsed - BASE_GAS) / BigInt(assets.length) + 1n;
    const known = this.#byAsset.get(asset);
    if (known === undefined || each > known) this.#byAsset.set(asset, each);
  }
}

function least(one: bigint, other: bigint): bigint {
  return one < other ? one : other;
}
