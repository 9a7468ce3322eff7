import { type CallPlace, type ChainReader, type FeeQuotes, type TriedCall } from '@tollgate/chain';
import { keccak256Hex } from '@tollgate/crypto';
import type { QuotedFees, Hex, PaymentFailure } from '@tollgate/protocol';
import type { SignedPaymentTerms } from '@tollgate/transport';

import type { LookUps } from '../limits/client-shares.js';
import { NotJudged, PaymentRefused, RETRY_AFTER_MS } from '../refusals.js';
import type { Deployments } from './deployments.js';

/** `busy`: the rest of the budget is held by payments in flight; it is released when they are settled. */
export type WalletRefusal =
  | Extract<PaymentFailure, 'contract_wallet_refused' | 'contract_wallet_paused'>
  | 'contract_wallets_busy';

/** The two kinds of gas that payers' code may use up, each with a budget of its own. */
export type WalletBudget = 'calls' | 'deployments';

/** Code that runs in a settlement besides the token's. */
export interface RunningCode {
  /** `nameCode` of a wallet; of one that is deployed first, its factory. */
  name: Hex;
  budget: WalletBudget;
}

export interface WalletCheckOptions {
  wallets: {
    /** @throws what Redis throws */
    findRefusal(code: RunningCode): Promise<WalletRefusal | null>;
  };
  deployments: Pick<Deployments, 'isWorth'>;
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
  terms: Pick<SignedPaymentTerms, 'asset' | 'priceBaseUnits'>;
  settlement: TriedCall;
  /** Where its simulation has succeeded. */
  place: CallPlace;
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
   * sender and a gas price: the code can see that a call without them is not a transaction. Refuses
   * `deployment_too_costly` where the wallet's deployment would cost too much for the sale.
   * @throws ChainUnavailableError, NotJudged
   */
  async assertAccepted(payment: WalletPayment, asked: Asked): Promise<void> {
    const code = findRunningCode(payment);
    if (code === null) return;
    const refusal = await this.#findRefusal(code);
    if (refusal === 'contract_wallets_busy')
      throw notJudged(refusal, 'The gas budget of contract wallets is held by payments in flight. Retry later.');
    if (refusal !== null) throw new PaymentRefused(refusal);
    const fees = await this.options.fees.read();
    if (code.budget === 'deployments' && !this.options.deployments.isWorth(payment.terms, fees))
      throw new PaymentRefused('deployment_too_costly');
    asked.lookUps.assertLeft();
    if (!(await this.#succeeds(payment, fees, asked))) throw new PaymentRefused('simulation_failed');
  }

  #findRefusal(code: RunningCode): Promise<WalletRefusal | null> {
    return this.options.wallets.findRefusal(code).catch((error: unknown) => {
      throw notJudged('redis_unavailable', 'Redis did not return the gas that contract wallets have burnt.', error);
    });
  }

  async #succeeds(
    { settlement: { gas, ...call }, place }: WalletPayment,
    fees: QuotedFees | null,
    { deadlineMs, lookUps }: Asked,
  ): Promise<boolean> {
    const [relayer] = await this.options.listRelayers();
    const from = call.from ?? relayer;
    // No relayer, or no gas price within its caps: the relayer simulates the call again before it sends.
    if (fees === null || from === undefined) return true;
    return this.options.chain.wouldSucceed({ ...call, from, fees, gas: BigInt(gas) }, place, deadlineMs, lookUps);
  }
}

function notJudged(reason: 'contract_wallets_busy' | 'redis_unavailable', message: string, cause?: unknown): NotJudged {
  return new NotJudged(reason, message, { retryAfterMs: RETRY_AFTER_MS, cause });
}

/** Null for a payer without code that is not deployed either. */
export function findRunningCode({
  payerCode,
  factory,
}: Pick<WalletPayment, 'payerCode' | 'factory'>): RunningCode | null {
  if (payerCode !== '0x') return { name: nameCode(payerCode), budget: 'calls' };
  return factory && { name: factory, budget: 'deployments' };
}

/**
 * The name that wallets with the same code share: the hash of the code at their address. The code of a proxy (EIP-1167)
 * and of a delegated account (EIP-7702) contains the address of its implementation.
 */
function nameCode(code: Hex): Hex {
  return keccak256Hex(code);
}
