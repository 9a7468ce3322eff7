import type { Hex, PaymentFailure } from '@tollgate/protocol';
import type { Redis } from 'ioredis';
import { keccak256 } from 'viem';

import { BurnBudget, type BurntGas } from './burn-budget.js';
import { WalletCodes } from './wallet-codes.js';

export interface ContractWalletSettings {
  /** False: only accounts without code may pay by signature. */
  areAccepted: boolean;
  /** Gas that all of them together may burn in an hour. */
  burnGasPerHour: number;
  /** Burns in an hour that bar a code; 0: none. */
  burnsPerCode: number;
  /** The most that one settlement may take. */
  settleGasCap: number;
}

/** `busy`: as much gas as is left to burn is under way; it is given back when that is settled. */
export type WalletRefusal =
  Extract<PaymentFailure, 'contract_wallet_refused' | 'contract_wallet_paused'> | 'contract_wallets_busy';

/**
 * Which payers with code have gas spent on them. Their code runs in the settlement, and may answer there as in no trial
 * (by the block's number, say), so trials bound nothing: what they may burn is bounded here.
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

  /** Before a resource is made for the payment. @throws what Redis throws */
  async findRefusal(code: Hex): Promise<WalletRefusal | null> {
    if (!this.settings.areAccepted) return 'contract_wallet_refused';
    const [burnt, isBarred] = await Promise.all([this.#budget.read(), this.#codes.isBarred(code)]);
    if (isBarred) return 'contract_wallet_paused';
    return this.#judge(burnt, this.settings.settleGasCap);
  }

  /** Holds the gas of a job that is about to be sent; null: it may be. @throws what Redis throws */
  async admit(jobId: string, { code, gas }: { code: Hex; gas: bigint }): Promise<WalletRefusal | null> {
    const { areAccepted, burnGasPerHour } = this.settings;
    if (!areAccepted) return 'contract_wallet_refused';
    if (await this.#codes.isBarred(code)) return 'contract_wallet_paused';
    const held = await this.#budget.hold(jobId, { gas: Number(gas), code }, burnGasPerHour);
    return held.isHeld ? null : this.#judge(held, Number(gas));
  }

  /** The job's transaction is mined. @throws what Redis throws */
  async conclude(jobId: string, { gasUsed, isSettled }: { gasUsed: bigint; isSettled: boolean }): Promise<void> {
    const burnt = isSettled ? 0 : Number(gasUsed);
    const held = await this.#budget.end(jobId, burnt);
    if (held === null) return;
    if (isSettled) return this.#codes.noteSettled(held.code);
    this.onBurnt(burnt);
    // What another has sent first fails early: it says nothing of the wallet's code.
    if (2 * burnt > held.gas) await this.#codes.noteBurn(held.code);
  }

  /** The job was not sent, and never will be. @throws what Redis throws */
  async release(jobId: string): Promise<void> {
    await this.#budget.end(jobId, 0);
  }

  /** Gas of the last hour, and what is left; 0 while no contract wallet is settled. @throws what Redis throws */
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

/**
 * What wallets of one code have in common: the hash of what stands at their address. A proxy's code (EIP-1167) and a
 * delegated account's (EIP-7702) hold the address of what they run.
 */
export function nameCode(code: Hex): Hex {
  return keccak256(code);
}
