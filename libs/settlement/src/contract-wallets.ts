import type { Hex } from '@tollgate/protocol';
import { LuaScript, type RedisClient } from '@tollgate/redis';
import type { RunningCode, WalletBudget, WalletRefusal } from '@tollgate/verification';

import countFromFirst from './scripts/count-from-first.lua';
import countOn from './scripts/count-on.lua';
import endGas from './scripts/end-gas.lua';
import holdGas from './scripts/hold-gas.lua';
import lookAtGas from './scripts/look-at-gas.lua';
import countGas from './scripts/shared/count-gas.lua';

export interface ContractWalletSettings {
  /** When false, only accounts without code may pay by signature. */
  areAccepted: boolean;
  /** Burns in an hour after which a code is barred; 0 bars none. */
  burnsPerCode: number;
  budgets: Readonly<Record<WalletBudget, GasBudget>>;
}

export interface GasBudget {
  /** What all payments together may use up in an hour. */
  gasPerHour: number;
  /** The most gas that one settlement may take. */
  gasCap: number;
}

export interface GasState {
  /** Gas used up in the last hour. */
  usedGas: number;
  /** 0: no further payment is settled from this budget. */
  leftGas: number;
}

const BURNS_KEPT_MS = 3_600_000;
/** Longer, so that a code used by many payers is not barred for the first burns of an hour. */
const SETTLED_KEPT_MS = 86_400_000;

const BUDGETS_KEPT_MS = 2 * BURNS_KEPT_MS;

const COUNT_BURN = new LuaScript(countFromFirst);
const COUNT_SETTLED = new LuaScript(countOn);
const LOOK = new LuaScript(countGas + lookAtGas);
const HOLD = new LuaScript(countGas + holdGas);
const END = new LuaScript(endGas);

/** Gas that was used up in the last hour, and gas that transactions in flight may still use up. */
type CountedGas = [used: number, held: number];

/**
 * Decides for which payers with code gas may be spent. Their code runs in the settlement and may behave there as in no
 * simulation (depending on the block number, say), so simulations bound nothing. Budgets bound what they may burn. A
 * deployment uses up its budget also when it succeeds: the payer signs it at no cost, and gets a wallet.
 */
export class ContractWallets {
  /** Shared by all verifiers of a chain, and kept when they restart. */
  readonly #budgetsKey: string;

  /** @param chainId a chain has its own budgets and bars: gas costs nothing on one and much on another */
  constructor(
    private readonly redis: RedisClient,
    private readonly chainId: number,
    private readonly settings: ContractWalletSettings,
    private readonly onBurnt: (gas: number) => void,
  ) {
    this.#budgetsKey = `tollgate:{contract-wallets}:${chainId}:gas`;
  }

  /** Call before a resource is made for the payment. @throws what Redis throws */
  async findRefusal({ name, budget }: RunningCode): Promise<WalletRefusal | null> {
    const { areAccepted, budgets } = this.settings;
    if (!areAccepted) return 'contract_wallet_refused';
    const [counted, isBarred] = await Promise.all([this.#count(budget), this.#isBarred(name)]);
    if (isBarred) return 'contract_wallet_paused';
    return judge(budgets[budget], counted, budgets[budget].gasCap);
  }

  /** Holds the gas of a job that is about to be sent; null when it may be sent. @throws what Redis throws */
  async admit(jobId: string, { name, budget, gas }: RunningCode & { gas: bigint }): Promise<WalletRefusal | null> {
    const { areAccepted, budgets } = this.settings;
    if (!areAccepted) return 'contract_wallet_refused';
    if (await this.#isBarred(name)) return 'contract_wallet_paused';
    const args = [jobId, Number(gas), budget, name, budgets[budget].gasPerHour, BUDGETS_KEPT_MS];
    const [used, held, isHeld] = (await HOLD.run(this.redis, this.#budgetsKey, args)) as [
      ...CountedGas,
      isHeld: number,
    ];
    return isHeld === 1 ? null : judge(budgets[budget], [used, held], Number(gas));
  }

  /** Call when the job's transaction is mined. @throws what Redis throws */
  async conclude(jobId: string, { gasUsed, isSettled }: { gasUsed: bigint; isSettled: boolean }): Promise<void> {
    const burnt = isSettled ? 0 : Number(gasUsed);
    const held = await this.#end(jobId, { calls: burnt, deployments: Number(gasUsed) });
    if (held === null) return;
    if (isSettled) await COUNT_SETTLED.run(this.redis, this.#settledKey(held.name), [SETTLED_KEPT_MS]);
    else this.onBurnt(burnt);
    // A payment that another transaction settled first fails early, with little gas: the wallet's code is not to blame.
    if (2 * burnt > held.gas) await COUNT_BURN.run(this.redis, this.#burnsKey(held.name), [BURNS_KEPT_MS]);
  }

  /** Call when the job was not sent, and never will be. @throws what Redis throws */
  async release(jobId: string): Promise<void> {
    await this.#end(jobId, { calls: 0, deployments: 0 });
  }

  /** @throws what Redis throws */
  async read(budget: WalletBudget): Promise<GasState> {
    const [usedGas] = await this.#count(budget);
    const { gasPerHour, gasCap } = this.settings.budgets[budget];
    const left = gasPerHour - usedGas;
    return { usedGas, leftGas: left < gasCap ? 0 : left };
  }

  /**
   * An attacker can deploy any number of wallets with one code, so the code is barred, not the wallet. Honest wallets
   * share a code too, and must not be barred cheaply: burns must outnumber settled payments, over all verifiers.
   */
  async #isBarred(code: Hex): Promise<boolean> {
    const { burnsPerCode } = this.settings;
    if (burnsPerCode === 0) return false;
    const keys = [this.#burnsKey(code), this.#settledKey(code)];
    const [burns, settled] = await Promise.all(keys.map((key) => this.redis.get(key)));
    return Number(burns) >= burnsPerCode && Number(burns) > Number(settled);
  }

  async #count(budget: WalletBudget): Promise<CountedGas> {
    return (await LOOK.run(this.redis, this.#budgetsKey, [budget])) as CountedGas;
  }

  /**
   * Releases what the job held and counts what it used up of its budget instead; null when the job holds nothing (any
   * more).
   */
  async #end(jobId: string, used: Record<WalletBudget, number>): Promise<{ gas: number; name: Hex } | null> {
    const held = await END.run(this.redis, this.#budgetsKey, [jobId, used.calls, used.deployments, BUDGETS_KEPT_MS]);
    if (typeof held !== 'string') return null;
    const [gas, , , name] = held.split(' ');
    return { gas: Number(gas), name: name as Hex };
  }

  #burnsKey(code: Hex): string {
    return `${this.#codeKey(code)}:burns`;
  }

  #settledKey(code: Hex): string {
    return `${this.#codeKey(code)}:settled`;
  }

  /** A Redis Cluster slot for each code of a chain. */
  #codeKey(code: Hex): string {
    return `tollgate:{wallet-code-${this.chainId}:${code}}`;
  }
}

function judge({ gasPerHour, gasCap }: GasBudget, [used, held]: CountedGas, gas: number): WalletRefusal | null {
  if (used + gasCap > gasPerHour) return 'contract_wallet_paused';
  return used + held + gas > gasPerHour ? 'contract_wallets_busy' : null;
}
