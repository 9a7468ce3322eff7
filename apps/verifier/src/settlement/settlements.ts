import type { SettlementResult, SettleSignedPaymentRequest } from '@tollgate/common';
import { pause } from '@tollgate/journal';
import type { Hex, PaymentFailure, SignedAuthorization, TransferAuthorization } from '@tollgate/protocol';

import { PaymentRefused } from '../verification/payment-refused.js';
import type { BurningPayers } from './burning-payers.js';
import { createEntry, type EntryTerms } from './create-entry.js';
import { explainUnsettled, type SettledChain } from './explain-unsettled.js';
import type { EndedJob, JobWatch } from './job-watch.js';
import { JoinedSettlements, type JoinedSettlementsOptions, type Settling } from './joined-settlements.js';
import type { SettleQuestion } from './parse-settle-request.js';
import type { PaymentEnd, PaymentToSettle } from './payment-to-settle.js';
import type { Relayer } from './relayer.js';
import { nameSettlement, payerOf, type SettlementEntry } from './settlement-entry.js';
import { keptMsFor } from './settlement-records.js';

export interface SettlementsOptions extends EntryTerms, JoinedSettlementsOptions {
  chainId: number;
  jobs: JobWatch;
  burning: Pick<BurningPayers, 'note'>;
  chain: SettledChain;
  /** How long a payment may be redeemed after its block. */
  windowMs: number;
  /** A payment that expires sooner than this is no longer sent. */
  leastValidityMs: number;
}

/** A request to settle an authorization. */
interface Asked {
  request: SettleQuestion;
  payment: SignedAuthorization;
  relayer: Relayer;
}

const MOST_TRIES = 3;
const LOOK_AGAIN_MS = 500;

/** Settles signed payments, each once, however often and wherever the settlement is asked for. */
export class Settlements {
  readonly #joined: JoinedSettlements;
  readonly #closing = new AbortController();

  constructor(private readonly options: SettlementsOptions) {
    this.#joined = new JoinedSettlements(options);
  }

  /** Payments whose settlement is in progress in this process. */
  get underWay(): number {
    return this.#joined.size;
  }

  /** Never throws because of payers, the chain or Redis. `signal` aborts when this process releases the relayer. */
  async settle(request: SettleQuestion, relayer: Relayer, signal: AbortSignal): Promise<SettlementResult> {
    const { payment, questionId, deadlineMs } = request;
    if (payment.kind !== 'authorization') return { outcome: 'unavailable', reason: 'settings_differ' };
    const mismatch = findMismatch(payment.authorization, request);
    if (mismatch) return failed(mismatch);
    const name = this.#nameOf(request, payment);
    const asked = { request, payment, relayer };
    return this.#joined.settle(name, { questionId, deadlineMs, signal }, (settling) =>
      this.#begin(asked, name, settling),
    );
  }

  /** Settlements in progress continue in the journal; their askers get `pending`. */
  close(): void {
    this.#closing.abort();
  }

  #nameOf({ terms, amountBaseUnits }: SettleSignedPaymentRequest, { authorization }: SignedAuthorization): string {
    return nameSettlement(this.options.chainId, { ...terms, amountBaseUnits, authorization });
  }

  async #begin(asked: Asked, name: string, settling: Settling): Promise<SettlementResult> {
    const { request, payment } = asked;
    try {
      const entry = await createEntry(request, payment, this.options, { isAccount: true });
      if (entry === null) return { outcome: 'unavailable', reason: 'settings_differ' };
      return await this.#carryOut(asked, entry, name, settling);
    } catch (error) {
      if (error instanceof PaymentRefused) return failed(error.failure);
      throw error;
    }
  }

  async #carryOut(
    { request, payment, relayer }: Asked,
    first: SettlementEntry,
    name: string,
    settling: Settling,
  ): Promise<SettlementResult> {
    const { questionId } = request;
    const record = { name, questionId, keptMs: keptMsFor(first.authorization.validBefore, this.options) };
    const sendBeforeMs = Number(first.authorization.validBefore) * 1000 - this.options.leastValidityMs;
    const { isWanted } = settling;
    const once = { entry: first, record, sendBeforeMs, isWanted, trial: request.trial };
    const toSettle: PaymentToSettle = { ...once, endedJobId: null, isAlone: false };
    for (let tries = 1; ;) {
      const end = await relayer.carryOut(toSettle, (jobId) => (settling.jobId = jobId));
      if (end.outcome === 'excluded') {
        toSettle.isAlone = true;
        const isAccount = end.why !== 'payer_has_code';
        toSettle.entry = (await createEntry(request, payment, this.options, { isAccount })) ?? toSettle.entry;
        continue;
      }
      if (end.outcome === 'answered') {
        settling.isAnswered = true;
        return end.answer;
      }
      const result = await this.#judge(toSettle.entry, end, tries++ < MOST_TRIES);
      if (result !== 'again') return result;
      toSettle.isAlone = true;
      if ('jobId' in end) toSettle.endedJobId = end.jobId;
    }
  }

  /** `again`: no transaction of ours can be mined any more, and no reason is known why another attempt should fail. */
  async #judge(
    entry: SettlementEntry,
    end: Exclude<PaymentEnd, { outcome: 'excluded' | 'answered' }>,
    mayTryAgain: boolean,
  ): Promise<SettlementResult | 'again'> {
    switch (end.outcome) {
      case 'settled':
        return {
          outcome: 'settled',
          txHash: end.txHash,
          payer: payerOf(entry),
          amountBaseUnits: entry.amountBaseUnits,
        };
      case 'unavailable':
        return end;
      case 'refused':
        return this.#explain(entry, null, end.failure);
      case 'elsewhere':
        return this.#judgeEnded(entry, await this.options.jobs.untilEnded(end.jobId), mayTryAgain);
      case 'ended':
        return this.#judgeOwn(entry, end, mayTryAgain);
    }
  }

  async #judgeOwn(
    entry: SettlementEntry,
    { news, isShared }: PaymentEnd & { outcome: 'ended' },
    mayTryAgain: boolean,
  ): Promise<SettlementResult | 'again'> {
    const { burning, onTrouble } = this.options;
    const result = await this.#judgeEnded(entry, news, mayTryAgain);
    const isSettled = result !== 'again' && result.outcome === 'settled';
    const isMined = news.outcome === 'over' && news.txHash !== null;
    // A reverted batch does not show which payment caused it. Each is retried alone before it counts against a payer.
    if (!isSettled && isMined && !(isShared && news.isReverted)) await burning.note(payerOf(entry)).catch(onTrouble);
    return result;
  }

  async #judgeEnded(entry: SettlementEntry, news: EndedJob, mayTryAgain: boolean): Promise<SettlementResult | 'again'> {
    const txHash = news.outcome === 'over' ? news.txHash : null;
    const result = await this.#explain(entry, txHash, 'settlement_failed');
    const isUnexplained = result.outcome === 'failed' && result.failure === 'settlement_failed';
    return isUnexplained && mayTryAgain ? 'again' : result;
  }

  /** Asks until the chain answers, even if no asker waits any more: an unused result costs nothing. */
  async #explain(entry: SettlementEntry, txHash: Hex | null, failure: PaymentFailure): Promise<SettlementResult> {
    const { chain, windowMs, nowMs, onTrouble } = this.options;
    while (!this.#closing.signal.aborted) {
      try {
        return await explainUnsettled(chain, entry, { txHash, failure, windowMs, nowMs });
      } catch (error) {
        onTrouble(error);
      }
      await pause(LOOK_AGAIN_MS, this.#closing.signal);
    }
    return { outcome: 'pending', txHash };
  }
}

/**
 * The asker has verified the payment. This check makes sure that no gas is spent on a payment that cannot be the one
 * asked for.
 */
function findMismatch(
  { to, value }: TransferAuthorization,
  { terms, amountBaseUnits }: SettleSignedPaymentRequest,
): PaymentFailure | null {
  if (to !== terms.payTo) return 'recipient_mismatch';
  return BigInt(value) === BigInt(amountBaseUnits) ? null : 'amount_mismatch';
}

function failed(failure: PaymentFailure): SettlementResult {
  return { outcome: 'failed', failure, txHash: null };
}
