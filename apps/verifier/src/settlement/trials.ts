import type { Hex } from '@tollgate/protocol';

import { bundleCalls, readBundle, type ContractCall } from '../authorizations/contract-call.js';
import { askForCode, hasCode, readCall, tryCall } from '../chain/contract-question.js';
import type { RpcBatcher } from '../chain/rpc-batcher.js';
import { hasContractFailed, MISSING, valueOf, type RpcCall, type RpcResult } from '../chain/rpc-endpoint.js';
import { malformed, parseQuantity } from '../chain/rpc-value.js';
import type { GasMemory } from './gas-memory.js';
import { isDeployable, isShareable, payerOf, planEntry, type SettlementEntry } from './settlement-entry.js';

/** A transaction that was tried and may be sent. */
export interface TriedSettlement {
  entries: readonly SettlementEntry[];
  call: ContractCall;
  gas: bigint;
}

/** Why a payment cannot share a transaction; alone it may do better. */
export type Exclusion = 'fails' | 'payer_has_code';

export interface SharedTrial {
  settlement: TriedSettlement | null;
  excluded: ReadonlyMap<SettlementEntry, Exclusion>;
}

export interface TrialsOptions {
  batcher: RpcBatcher;
  multicall3: Hex;
  gas: GasMemory;
  /** For one payment. */
  gasCap: bigint;
  /** Redis's clock. */
  nowMs: () => number;
}

const ANSWERS_WITHIN_MS = 5_000;
const LOOK_FOR_MULTICALL3_MS = 60_000;
const MARGIN_PERCENT = 20n;

/** Tries settlements out as the chain is now: what would fail is not sent, and burns nobody's gas. */
export class Trials {
  #hasMulticall3: Promise<boolean> | null = null;
  #askedAtMs = -Infinity;

  constructor(private readonly options: TrialsOptions) {}

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
   * Payments by accounts' own keys as one transaction, in one round trip. Those of payers with code are left out, since
   * their code could burn the gas of all; so are those that fail.
   * @throws ChainUnavailableError
   */
  async tryShared(entries: readonly SettlementEntry[], relayer: Hex): Promise<SharedTrial> {
    const shareable = entries.filter(isShareable);
    const gas = this.options.gas.limitFor(shareable.map(({ asset }) => asset));
    const [withCode, succeeds] = await Promise.all([
      this.#findPayersWithCode(shareable),
      this.#tryAll(shareable, relayer, gas),
    ]);
    const excluded = new Map<SettlementEntry, Exclusion>();
    for (const entry of entries) if (!isShareable(entry)) excluded.set(entry, 'payer_has_code');
    for (const [index, entry] of shareable.entries()) {
      if (withCode.has(payerOf(entry))) excluded.set(entry, 'payer_has_code');
      else if (!succeeds[index]) excluded.set(entry, 'fails');
    }
    const rest = shareable.filter((entry) => !excluded.has(entry));
    return { settlement: rest.length === 0 ? null : { entries: rest, call: this.#bundle(rest), gas }, excluded };
  }

  /** What `tryShared` would find of payments that were tried one by one a moment ago; null: it has to be asked. */
  assumeShared(entries: readonly SettlementEntry[]): SharedTrial | null {
    const gas = this.options.gas.limitForUntried(entries.map(({ asset }) => asset));
    if (gas === null || !entries.every(isShareable)) return null;
    return { settlement: { entries, call: this.#bundle(entries), gas }, excluded: new Map() };
  }

  /** The same for some of its payments, as if the others had never been there. */
  narrow({ gas }: TriedSettlement, entries: readonly SettlementEntry[]): TriedSettlement {
    return { entries, call: this.#bundle(entries), gas };
  }

  /**
   * One payment by itself, within the cap of gas. Null: it fails, now and in the next block.
   * @throws ChainUnavailableError
   */
  async tryAlone(entry: SettlementEntry, relayer: Hex): Promise<TriedSettlement | null> {
    const isDeployed = !isDeployable(entry) || (await this.#readHasCode(payerOf(entry)));
    const call = planEntry(entry, { multicall3: this.options.multicall3, isDeployed });
    const tried = await this.tryCall(call, relayer);
    return tried && { ...tried, entries: [entry] };
  }

  /** As `tryAlone`, for a call that settles one payment. */
  async tryCall(call: ContractCall, relayer: Hex): Promise<Pick<TriedSettlement, 'call' | 'gas'> | null> {
    // The newest block may be old on a quiet chain: what is valid since a moment ago is not valid there.
    const estimate =
      (await this.#estimate(call, relayer, 'latest')) ?? (await this.#estimate(call, relayer, 'pending'));
    const { gasCap } = this.options;
    if (estimate === null || estimate > gasCap) return null;
    const gas = (estimate * (100n + MARGIN_PERCENT)) / 100n;
    return { call, gas: gas > gasCap ? gasCap : gas };
  }

  #bundle(entries: readonly SettlementEntry[]): ContractCall {
    const { multicall3 } = this.options;
    const [first, ...others] = entries.map((entry) => planEntry(entry, { multicall3, isDeployed: true }));
    if (first && others.length === 0) return first;
    const calls = [first, ...others].flatMap((call) => (call ? [{ ...call, mayFail: true }] : []));
    return bundleCalls(multicall3, calls);
  }

  #tryAll(entries: readonly SettlementEntry[], from: Hex, gas: bigint): Promise<boolean[]> {
    if (entries.length === 0) return Promise.resolve([]);
    return this.#ask([tryCall({ from, ...this.#bundle(entries), gas: Number(gas) })], ([result]) => {
      const data = readCall(result);
      if (data === null) return entries.map(() => false);
      if (entries.length === 1) return [true];
      return readBundle(data, entries.length) ?? malformed('no results of the bundled calls');
    });
  }

  #findPayersWithCode(entries: readonly SettlementEntry[]): Promise<ReadonlySet<Hex>> {
    const payers = [...new Set(entries.map(payerOf))];
    if (payers.length === 0) return Promise.resolve(new Set());
    return this.#ask(
      payers.map(askForCode),
      (results) => new Set(payers.filter((_, index) => hasCode(results[index]))),
    );
  }

  #readHasCode(address: Hex): Promise<boolean> {
    return this.#ask([askForCode(address)], ([result]) => hasCode(result));
  }

  /** Within the cap: a payer's code that is given more would run for as long as the node lets it. */
  #estimate(call: ContractCall, from: Hex, block: 'latest' | 'pending'): Promise<bigint | null> {
    const gas = `0x${this.options.gasCap.toString(16)}`;
    return this.#ask([{ method: 'eth_estimateGas', params: [{ from, gas, ...call }, block] }], ([result = MISSING]) =>
      hasContractFailed(result) ? null : BigInt(parseQuantity(valueOf(result, 'eth_estimateGas'), 'gas')),
    );
  }

  #ask<T>(calls: readonly RpcCall[], read: (results: readonly RpcResult[]) => T): Promise<T> {
    return this.options.batcher.ask({ calls, deadlineMs: this.options.nowMs() + ANSWERS_WITHIN_MS, read });
  }
}
