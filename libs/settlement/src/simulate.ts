import {
  askForCode,
  bundleCalls,
  type Deployment,
  hasCode,
  isExpectedFactory,
  malformed,
  readBundle,
  readCode,
  readCall,
  type RpcCall,
  type RpcResult,
  tryCall,
  RPC_TIMEOUT_MS,
} from '@tollgate/chain';
import type { LaneId } from '@tollgate/journal';
import { validityOf, type Hex } from '@tollgate/protocol';
import { LuaScript, type RedisClient } from '@tollgate/redis';

import { unavailableBy, type AttemptEnd, type Batch, type EarlyEnds } from './attempt.js';
import { CallSimulation, type CallSimulationOptions, type SendableCall, type GasMemory } from './call-simulation.js';
import { isShareable, planEntry, settlementMethods } from './methods/registry.js';
import type { PaymentEntry } from './payment-entry.js';
import countFromFirst from './scripts/count-from-first.lua';
import { TransactionGas } from './transaction-gas.js';

export interface Simulated {
  /** Null when nothing may be sent, and for a payment that its sender simulates. */
  transaction: SimulatedTransaction | null;
  ends: EarlyEnds;
}

const BARRED: AttemptEnd = { outcome: 'refused', failure: 'settlement_failed' };
const TOO_LATE: AttemptEnd = { outcome: 'refused', failure: 'authorization_expired' };
const FAILS: AttemptEnd = { outcome: 'refused', failure: 'simulation_failed' };
/** Without a shared transaction, whether the payer has code was not looked at. */
const MAY_BE_A_WALLET: AttemptEnd = { outcome: 'excluded', mayHavePayerCode: true };

/** Simulates the batch as its relayer would send it. Returns the payments that must not be sent. */
export async function simulate(
  { simulation, strikes, nowMs }: { simulation: Simulation; strikes: Strikes; nowMs: () => number },
  { lane, onTrouble }: { lane: LaneId; onTrouble: (error: unknown) => void },
  batch: Batch,
): Promise<Simulated> {
  const { attempts, isShared, isSimulated } = batch;
  const ends: EarlyEnds = new Map();
  try {
    const payments = attempts.map(({ payment }) => payment);
    const [{ transaction, excluded }, barred] = await Promise.all([
      isShared
        ? simulation.simulateShared(payments, lane.address, isSimulated)
        : simulateAlone(simulation, batch, lane.address),
      strikes.findBarred(payments.map(({ payer }) => payer)),
    ]);
    const atMs = nowMs();
    for (const attempt of attempts) {
      const { payment, sendBeforeMs, isSignerKnown } = attempt;
      const why = excluded.get(payment);
      if (barred.has(payment.payer)) ends.set(attempt, BARRED);
      else if (sendBeforeMs <= atMs) ends.set(attempt, TOO_LATE);
      else if (why && isShared) ends.set(attempt, { outcome: 'excluded', mayHavePayerCode: why === 'payer_has_code' });
      else if (why && isShareable(payment) && !isSignerKnown) ends.set(attempt, MAY_BE_A_WALLET);
      else if (why) ends.set(attempt, FAILS);
    }
    return { transaction, ends };
  } catch (error) {
    onTrouble(error);
    for (const attempt of attempts) ends.set(attempt, unavailableBy(error));
    return { transaction: null, ends };
  }
}

/** @throws ChainUnavailableError */
async function simulateAlone(
  simulation: Simulation,
  { attempts: [attempt] }: Batch,
  relayer: Hex,
): Promise<BatchSimulation> {
  const entry = attempt?.payment;
  if (entry === undefined || settlementMethods.of(entry.payment).isSimulatedBySender)
    return { transaction: null, excluded: new Map() };
  const transaction = await simulation.simulateAlone(entry, relayer);
  return { transaction, excluded: new Map(transaction === null ? [[entry, 'fails']] : []) };
}

/** A transaction that was simulated and may be sent. */
export interface SimulatedTransaction extends SendableCall {
  entries: readonly PaymentEntry[];
}

/** Why a payment cannot share a transaction; it may still succeed alone. */
type Exclusion = 'fails' | 'payer_has_code';

interface BatchSimulation {
  transaction: SimulatedTransaction | null;
  excluded: ReadonlyMap<PaymentEntry, Exclusion>;
}

interface SimulationOptions extends CallSimulationOptions {
  chainId: number;
  multicall3: Hex;
  gas: GasMemory;
}

const LOOK_FOR_MULTICALL3_MS = 60_000;

/** Simulates settlements in the current state of the chain, so that a failing one is not sent and burns no gas. */
export class Simulation {
  #hasMulticall3: Promise<boolean> | null = null;
  #askedAtMs = -Infinity;
  readonly #callSimulation: CallSimulation;
  readonly #transactionGas: TransactionGas;

  constructor(private readonly options: SimulationOptions) {
    this.#callSimulation = new CallSimulation(options);
    this.#transactionGas = new TransactionGas(options);
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

  /** The most gas for a shared transaction; waits for the chain the first time only. @throws ChainUnavailableError */
  readMostGas(): Promise<bigint> {
    return this.#transactionGas.read();
  }

  /** How many of these payments, in their order, fit into a transaction with this much gas; one at least. */
  countFitting(entries: readonly PaymentEntry[], mostGas: bigint): number {
    return this.options.gas.countFitting(entries, mostGas);
  }

  /**
   * Simulates payments by accounts' own keys as one transaction, in one round trip. Payments that fail are left out,
   * and so are those of payers with code, which could burn the gas of all. No gas price is given, since only the
   * token's code runs.
   * @param areSimulated each was simulated a moment ago; the result is then assumed, if the gas of their tokens is known
   * @throws ChainUnavailableError
   */
  async simulateShared(entries: readonly PaymentEntry[], relayer: Hex, areSimulated = false): Promise<BatchSimulation> {
    const mostGas = await this.readMostGas();
    const assumedGas = areSimulated ? this.options.gas.limitForUnsimulated(entries, mostGas) : null;
    if (assumedGas !== null && entries.every(isShareable)) {
      return { transaction: this.#bundle(entries, assumedGas), excluded: new Map() };
    }
    const shareable = entries.filter(isShareable);
    const gas = this.options.gas.limitFor(shareable, mostGas);
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

  /** The shared transaction with some of its payments only. */
  narrow({ gas }: SimulatedTransaction, entries: readonly PaymentEntry[]): SimulatedTransaction {
    return this.#bundle(entries, gas);
  }

  /**
   * Simulates one payment alone, within its gas cap. Null when it fails. A wallet is deployed only while it has no code: it
   * may have got that since the payment was verified.
   * @throws ChainUnavailableError
   */
  async simulateAlone(entry: PaymentEntry, relayer: Hex): Promise<SimulatedTransaction | null> {
    const deployment = settlementMethods.of(entry.payment).deploymentOf(entry.payment);
    const state = deployment && (await this.#readDeployment(entry.payer, deployment));
    if (state === 'impossible') return null;
    const isDeployed = state !== 'possible';
    const factory = !isDeployed && deployment !== null ? deployment.to : null;
    const { chainId, multicall3 } = this.options;
    const call = planEntry(entry, { chainId, multicall3, isDeployed });
    const tried = await this.#callSimulation.run(call, {
      payer: entry.payer,
      validAfter: validityOf(entry.payment).validAfter,
      relayer,
      factory,
    });
    return tried && { ...tried, entries: [entry] };
  }

  /** One transaction in which only the tokens' code runs. */
  #bundle(entries: readonly PaymentEntry[], gas: bigint): SimulatedTransaction {
    const { chainId, multicall3 } = this.options;
    const calls = entries.map((entry) => planEntry(entry, { chainId, multicall3, isDeployed: true }));
    const [first] = calls;
    const call =
      first && calls.length === 1
        ? first
        : bundleCalls(
            multicall3,
            calls.map((each) => ({ ...each, mayFail: true })),
          );
    return { entries, call, gas, running: null };
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

  #readDeployment(payer: Hex, deployment: Deployment): Promise<'done' | 'possible' | 'impossible'> {
    return this.#ask([askForCode(payer), askForCode(deployment.to)], ([code, factory]) => {
      if (hasCode(code)) return 'done';
      return isExpectedFactory(deployment, readCode(factory)) ? 'possible' : 'impossible';
    });
  }

  #readHasCode(address: Hex): Promise<boolean> {
    return this.#ask([askForCode(address)], ([result]) => hasCode(result));
  }

  #ask<T>(calls: readonly RpcCall[], read: (results: readonly RpcResult[]) => T): Promise<T> {
    return this.options.batcher.ask({ calls, deadlineMs: this.options.nowMs() + RPC_TIMEOUT_MS, read });
  }
}

/** The number of failed transactions after which a payer is barred. */
const MOST_BURNS = 5;
const STRIKE_KEPT_MS = 3_600_000;

const NOTE_STRIKE = new LuaScript(countFromFirst);

/**
 * Payers whose payments fail on the chain although their simulation succeeded: a wallet's code may distinguish the two,
 * and signing costs the payer nothing. Each failed transaction counts for an hour, over all verifiers.
 */
export class Strikes {
  /** @param chainId an address may be a wallet of another owner on another chain: each chain counts for itself */
  constructor(
    private readonly redis: RedisClient,
    private readonly chainId: number,
  ) {}

  /** Call when a transaction was mined and this payer's payment failed in it, whatever became of others there. */
  async note(payer: Hex): Promise<void> {
    await NOTE_STRIKE.run(this.redis, this.#keyOf(payer), [STRIKE_KEPT_MS]);
  }

  /** Returns those of the payers for whom nothing is sent for now. */
  async findBarred(payers: readonly Hex[]): Promise<ReadonlySet<Hex>> {
    const asked = [...new Set(payers)];
    const burns = await Promise.all(asked.map((payer) => this.redis.get(this.#keyOf(payer))));
    return new Set(asked.filter((_, index) => Number(burns[index] ?? 0) >= MOST_BURNS));
  }

  /** A Redis Cluster slot for each payer of a chain. */
  #keyOf(payer: Hex): string {
    return `tollgate:{burnt-${this.chainId}:${payer}}`;
  }
}
