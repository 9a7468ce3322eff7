import type { Hex } from '@tollgate/protocol';
import { LuaScript, type RedisClient } from '@tollgate/redis';
import type { WalletRefusal } from '@tollgate/verification';

import countFromFirst from './scripts/count-from-first.lua';
import countOn from './scripts/count-on.lua';
import endGas from './scripts/end-gas.lua';
import holdGas from './scripts/hold-gas.lua';
import lookAtGas from './scripts/look-at-gas.lua';
import burntGas from './scripts/shared/burnt-gas.lua';

export interface ContractWalletSettings {
  /** When false, only accounts without code may pay by signature. */
  areAccepted: boolean;
  /** Gas that all contract wallets together may burn in an hour. */
  burnGasPerHour: number;
  /** Burns in an hour after which a code is barred; 0 bars none. */
  burnsPerCode: number;
  /** The most gas that one settlement may take. */
  settleGasCap: number;
}

const BURNS_KEPT_MS = 3_600_000;
/** Longer, so that a code used by many payers is not barred for the first burns of an hour. */
const SETTLED_KEPT_MS = 86_400_000;

/** Shared by all verifiers of a ledger, and kept when they restart. */
const BUDGET = 'tollgate:{contract-wallets}:burnt-gas';
const BUDGET_KEPT_MS = 2 * BURNS_KEPT_MS;

const COUNT_BURN = new LuaScript(countFromFirst);
const COUNT_SETTLED = new LuaScript(countOn);
const LOOK = new LuaScript(burntGas + lookAtGas);
const HOLD = new LuaScript(burntGas + holdGas);
const END = new LuaScript(endGas);

/** Gas that contract wallets have burnt in the last hour, and gas that their transactions in flight may still burn. */
type BurntGas = [burnt: number, held: number];

/**
 * Decides for which payers with code gas may be spent. Their code runs in the settlement and may behave there as in no
 * simulation (depending on the block number, say), so simulations bound nothing. This budget bounds what they may burn.
 */
export class ContractWallets {
  constructor(
    private readonly redis: RedisClient,
    private readonly settings: ContractWalletSettings,
    private readonly onBurnt: (gas: number) => void,
  ) {}

  /** Call before a resource is made for the payment. @throws what Redis throws */
  async findRefusal(code: Hex): Promise<WalletRefusal | null> {
    if (!this.settings.areAccepted) return 'contract_wallet_refused';
    const [burnt, isBarred] = await Promise.all([this.#readBurnt(), this.#isBarred(code)]);
    if (isBarred) return 'contract_wallet_paused';
    return this.#judge(burnt, this.settings.settleGasCap);
  }

  /** Holds the gas of a job that is about to be sent; null when it may be sent. @throws what Redis throws */
  async admit(jobId: string, { code, gas }: { code: Hex; gas: bigint }): Promise<WalletRefusal | null> {
    const { areAccepted, burnGasPerHour } = this.settings;
    if (!areAccepted) return 'contract_wallet_refused';
    if (await this.#isBarred(code)) return 'contract_wallet_paused';
    const args = [jobId, Number(gas), code, burnGasPerHour, BUDGET_KEPT_MS];
    const [burnt, held, isHeld] = (await HOLD.run(this.redis, BUDGET, args)) as [...BurntGas, isHeld: number];
    return isHeld === 1 ? null : this.#judge([burnt, held], Number(gas));
  }

  /** Call when the job's transaction is mined. @throws what Redis throws */
  async conclude(jobId: string, { gasUsed, isSettled }: { gasUsed: bigint; isSettled: boolean }): Promise<void> {
    const burnt = isSettled ? 0 : Number(gasUsed);
    const held = await this.#end(jobId, burnt);
    if (held === null) return;
    if (isSettled) await COUNT_SETTLED.run(this.redis, settledKey(held.code), [SETTLED_KEPT_MS]);
    else this.onBurnt(burnt);
    // A payment that another transaction settled first fails early, with little gas: the wallet's code is not to blame.
    if (2 * burnt > held.gas) await COUNT_BURN.run(this.redis, burnsKey(held.code), [BURNS_KEPT_MS]);
  }

  /** Call when the job was not sent, and never will be. @throws what Redis throws */
  async release(jobId: string): Promise<void> {
    await this.#end(jobId, 0);
  }

  /**
   * Gas burnt in the last hour, and gas left; 0 left means that no contract wallet is settled. @throws what Redis
   * throws
   */
  async read(): Promise<{ burntGas: number; leftGas: number }> {
    const [burnt] = await this.#readBurnt();
    const { burnGasPerHour, settleGasCap } = this.settings;
    const left = burnGasPerHour - burnt;
    return { burntGas: burnt, leftGas: left < settleGasCap ? 0 : left };
  }

  /**
   * An attacker can deploy any number of wallets with one code, so the code is barred, not the wallet. Honest wallets
   * share a code too, and must not be barred cheaply: burns must outnumber settled payments, over all verifiers.
   */
  async #isBarred(code: Hex): Promise<boolean> {
    const { burnsPerCode } = this.settings;
    if (burnsPerCode === 0) return false;
    const [burns, settled] = await Promise.all([this.redis.get(burnsKey(code)), this.redis.get(settledKey(code))]);
    return Number(burns) >= burnsPerCode && Number(burns) > Number(settled);
  }

  async #readBurnt(): Promise<BurntGas> {
    return (await LOOK.run(this.redis, BUDGET, [])) as BurntGas;
  }

  /** Releases what the job held and counts what it burnt instead; null when the job holds nothing (any more). */
  async #end(jobId: string, burnt: number): Promise<{ gas: number; code: Hex } | null> {
    const held = await END.run(this.redis, BUDGET, [jobId, burnt, BUDGET_KEPT_MS]);
    if (typeof held !== 'string') return null;
    const [gas, , code] = held.split(' ');
    return { gas: Number(gas), code: code as Hex };
  }

  #judge([burnt, held]: BurntGas, gas: number): WalletRefusal | null {
    const { burnGasPerHour, settleGasCap } = this.settings;
    if (burnt + settleGasCap > burnGasPerHour) return 'contract_wallet_paused';
    return burnt + held + gas > burnGasPerHour ? 'contract_wallets_busy' : null;
  }
}

/** A Redis Cluster slot for each code. */
function burnsKey(code: Hex): string {
  return `tollgate:{wallet-code-${code}}:burns`;
}

function settledKey(code: Hex): string {
  return `tollgate:{wallet-code-${code}}:settled`;
}
