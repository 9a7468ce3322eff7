import { type ChainReader, ChainUnavailableError, type FeeQuotes, type TriedCall } from '@tollgate/chain';
import { keccak256Hex } from '@tollgate/crypto';
import type { Hex, PaymentFailure } from '@tollgate/protocol';

import type { LookUps } from '../limits/client-shares.js';
import { PaymentRefused, RETRY_AFTER_MS } from '../refusals.js';

/** `busy`: the rest of the budget is held by payments in flight; it is released when they are settled. */
export type WalletRefusal =
  | Extract<PaymentFailure, 'contract_wallet_refused' | 'contract_wallet_paused'>
  | 'contract_wallets_busy';

export interface WalletCheckOptions {
  wallets: {
    /** @throws what Redis throws */
    findRefusal(code: Hex): Promise<WalletRefusal | null>;
  };
  fees: Pick<FeeQuotes, 'read'>;
  chain: Pick<ChainReader, 'wouldSucceed'>;
  /** The accounts that settle here, in lower case; those that can settle now come first. */
  listRelayers: () => Promise<readonly Hex[]>;
}

export interface WalletPayment {
  /** `0x` when the payer is not deployed yet. */
  payerCode: Hex;
  /** The contract that then deploys it. */
  factory: Hex | null;
  settlement: TriedCall;
}

/** Deadline, and the client share to charge: the payer's own code runs. */
interface Asked {
  deadlineMs: number;
  lookUps: LookUps;
}

/** The further check of a payer whose code runs in the settlement. */
export class WalletCheck {
  constructor(private readonly options: WalletCheckOptions) {}

  /**
   * Refuses `contract_wallet_refused` and `contract_wallet_paused`, and `simulation_failed` when the call fails with a
   * sender and a gas price: the code can see that a call without them is not a transaction.
   * @throws ChainUnavailableError
   */
  async assertAccepted({ payerCode, factory, settlement }: WalletPayment, asked: Asked): Promise<void> {
    const code = payerCode === '0x' ? factory : nameCode(payerCode);
    if (code === null) return;
    const refusal = await this.#findRefusal(code);
    if (refusal === 'contract_wallets_busy')
      throw unavailable(refusal, 'The gas budget of contract wallets is held by payments in flight. Retry later.');
    if (refusal !== null) throw new PaymentRefused(refusal);
    asked.lookUps.assertLeft();
    if (!(await this.#succeeds(settlement, asked))) throw new PaymentRefused('simulation_failed');
  }

  #findRefusal(code: Hex): Promise<WalletRefusal | null> {
    return this.options.wallets.findRefusal(code).catch((error: unknown) => {
      throw unavailable('redis_unavailable', 'Redis did not return the gas that contract wallets have burnt.', error);
    });
  }

  async #succeeds({ gas, ...call }: TriedCall, { deadlineMs, lookUps }: Asked): Promise<boolean> {
    const [fees, [relayer]] = await Promise.all([this.options.fees.read(), this.options.listRelayers()]);
    const from = call.from ?? relayer;
    // No relayer, or no gas price within its caps: the relayer simulates the call again before it sends.
    if (fees === null || from === undefined) return true;
    return this.options.chain.wouldSucceed({ ...call, from, fees, gas: BigInt(gas) }, deadlineMs, lookUps);
  }
}

function unavailable(
  reason: 'contract_wallets_busy' | 'redis_unavailable',
  message: string,
  cause?: unknown,
): ChainUnavailableError {
  return new ChainUnavailableError(reason, message, { retryAfterMs: RETRY_AFTER_MS, cause });
}

/**
 * The name that wallets with the same code share: the hash of the code at their address. The code of a proxy (EIP-1167)
 * and of a delegated account (EIP-7702) contains the address of its implementation.
 */
export function nameCode(code: Hex): Hex {
  return keccak256Hex(code);
}
