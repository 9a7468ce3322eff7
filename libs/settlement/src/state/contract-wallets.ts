import type { Hex } from '@tollgate/protocol';
import type { WalletRefusal } from '@tollgate/verification';
import type { Redis } from 'ioredis';

import { BurnBudget, type BurntGas } from './burn-budget.js';
import { WalletCodes } from './wallet-codes.js';

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

/**
 * Decides for which payers with code gas may be spent. Their code runs in the settlement and may behave there as in no
 * simulation (depending on the block number, say), so simulations bound nothing. This budget bounds what they may burn.
 */
export class ContractWallets {
  readonly #budget: BurnBudget;
  readonly #codes: WalletCodes;

  constructor(
    redis: Redis,
    private readonly settings: ContractWalletSettings,
    private readonly onBurnt: (gas: number) => void,
  ) {
    this.#budget = new BurnBudget(redis);
    this.#codes = new WalletCodes(redis, settings.burnsPerCode);
  }

  /** Call before a resource is made for the payment. @throws what Redis throws */
  async findRefusal(code: Hex): Promise<WalletRefusal | null> {
    if (!this.settings.areAccepted) return 'contract_wallet_refused';
    const [burnt, isBarred] = await Promise.all([this.#budget.read(), this.#codes.isBarred(code)]);
    if (isBarred) return 'contract_wallet_paused';
    return this.#judge(burnt, this.settings.settleGasCap);
  }

  /** Holds the gas of a job that is about to be sent; null when it may be sent. @throws what Redis throws */
  async admit(jobId: string, { code, gas }: { code: Hex; gas: bigint }): Promise<WalletRefusal | null> {
    const { areAccepted, burnGasPerHour } = this.settings;
    if (!areAccepted) return 'contract_wallet_refused';
    if (await this.#codes.isBarred(code)) return 'contract_wallet_paused';
    const held = await this.#budget.hold(jobId, { gas: Number(gas), code }, burnGasPerHour);
    return held.isHeld ? null : this.#judge(held, Number(gas));
  }

  /** Call when the job's transaction is mined. @throws what Redis throws */
  async conclude(jobId: string, { gasUsed, isSettled }: { gasUsed: bigint; isSettled: boolean }): Promise<void> {
    const burnt = isSettled ? 0 : Number(gasUsed);
    const held = await this.#budget.end(jobId, burnt);
    if (held === null) return;
    if (isSettled) return this.#codes.noteSettled(held.code);
    this.onBurnt(burnt);
    // A payment that another transaction settled first fails early, with little gas: the wallet's code is not to blame.
    if (2 * burnt > held.gas) await this.#codes.noteBurn(held.code);
  }

  /** Call when the job was not sent, and never will be. @throws what Redis throws */
  async release(jobId: string): Promise<void> {
    await this.#budget.end(jobId, 0);
  }

  /**
   * Gas burnt in the last hour, and gas left; 0 left means that no contract wallet is settled. @throws what Redis
   * throws
   */
  async read(): Promise<{ burntGas: number; leftGas: number }> {
    const { burnt } = await this.#budget.read();
    const { burnGasPerHour, settleGasCap } = this.settings;
    const left = burnGasPerHour - burnt;
    return { burntGas: burnt, leftGas: left < settleGasCap ? 0 : left };
  }

  #judge({ burnt, held }: BurntGas, gas: number): WalletRefusal | null {
    const { burnGasPerHour, settleGasCap } = this.settings;
    if (burnt + settleGasCap > burnGasPerHour) return 'contract_wallet_paused';
    return burnt + held + gas > burnGasPerHour ? 'contract_wallets_busy' : null;
  }
}
