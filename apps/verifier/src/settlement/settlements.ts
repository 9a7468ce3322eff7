import type { SettlementResult, SettleSignedPaymentRequest } from '@tollgate/common';
import type { Hex, PaymentFailure, SignedAuthorization, TransferAuthorization } from '@tollgate/protocol';
import type { Journal } from '@tollgate/transactions';

import { PaymentRefused } from '../verification/payment-refused.js';
import { createEntry, type EntryTerms } from './create-entry.js';
import { explainUnsettled, type SettledChain } from './explain-unsettled.js';
import type { EndedJob, JobWatch } from './job-watch.js';
import { pause } from './pause.js';
import type { PaymentEnd, PaymentToSettle, Relayer } from './relayer.js';
import { nameSettlement, payerOf, type SettlementEntry } from './settlement-entry.js';

export interface SettlementsOptions extends EntryTerms {
  chainId: number;
  journal: Pick<Journal, 'readJob'>;
  jobs: JobWatch;
  chain: SettledChain;
  /** How long somebody who asks is kept waiting at most. */
  waitMs: number;
  /** How long a payment may be redeemed after its block. */
  windowMs: number;
  /** What is valid for less than that is not sent any more. */
  leastValidityMs: number;
  /** Redis's clock. */
  nowMs: () => number;
  onTrouble: (error: unknown) => void;
}

/** A request for an authorization, which is all that can be settled here. */
interface Asked {
  request: SettleSignedPaymentRequest;
  payment: SignedAuthorization;
  relayer: Relayer;
}

/** One payment while its settlement is under way in this process. */
interface Settling {
  result: Promise<SettlementResult>;
  /** The job it is in, as far as is known. */
  jobId: string | null;
}

const MOST_TRIES = 3;
const LOOK_AGAIN_MS = 500;
/** What is remembered no longer: an authorization may be valid for ever. */
const LONGEST_VALIDITY_MS = 86_400_000;

/** Settles signed payments, each once, however often and wherever it is asked for. */
export class Settlements {
  readonly #underWay = new Map<string, Settling>();
  readonly #closing = new AbortController();

  constructor(private readonly options: SettlementsOptions) {}

  /** Payments whose settlement is under way in this process. */
  get underWay(): number {
    return this.#underWay.size;
  }

  /** Never throws for what payers, the chain or Redis do. `signal`: this process gives the relayer back. */
  async settle(request: SettleSignedPaymentRequest, relayer: Relayer, signal: AbortSignal): Promise<SettlementResult> {
    const { nowMs, waitMs } = this.options;
    const { payment, deadlineMs } = request;
    if (payment.kind !== 'authorization') return { outcome: 'unavailable', reason: 'settings_differ' };
    const mismatch = findMismatch(payment.authorization, request);
    if (mismatch) return failed(mismatch);
    const patienceMs = Math.min(deadlineMs - nowMs(), waitMs);
    if (patienceMs <= 0) return { outcome: 'unavailable', reason: 'deadline_passed' };
    const settling = this.#join({ request, payment, relayer });
    return (await within(settling.result, patienceMs, signal)) ?? this.#describePending(settling);
  }

  /** What is under way goes on in the journal; whoever waits here is told so. */
  close(): void {
    this.#closing.abort();
  }

  #join(asked: Asked): Settling {
    const { terms, amountBaseUnits } = asked.request;
    const { authorization } = asked.payment;
    const name = nameSettlement(this.options.chainId, { ...terms, amountBaseUnits, authorization });
    const known = this.#underWay.get(name);
    if (known) return known;
    const settling: Settling = { result: Promise.resolve({ outcome: 'pending', txHash: null }), jobId: null };
    this.#underWay.set(name, settling);
    settling.result = this.#begin(asked, name, settling).finally(() => this.#underWay.delete(name));
    return settling;
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
    const record = { name, keptMs: this.#keptMs(first) };
    const sendBeforeMs = Number(first.authorization.validBefore) * 1000 - this.options.leastValidityMs;
    const toSettle: PaymentToSettle = { entry: first, record, sendBeforeMs, endedJobId: null, isAlone: false };
    for (let tries = 1; ;) {
      const end = await relayer.carryOut(toSettle, (jobId) => (settling.jobId = jobId));
      if (end.outcome === 'excluded') {
        toSettle.isAlone = true;
        const isAccount = end.why !== 'payer_has_code';
        toSettle.entry = (await createEntry(request, payment, this.options, { isAccount })) ?? toSettle.entry;
        continue;
      }
      const result = await this.#judge(toSettle.entry, end, tries++ < MOST_TRIES);
      if (result !== 'again') return result;
      toSettle.isAlone = true;
      if ('jobId' in end) toSettle.endedJobId = end.jobId;
    }
  }

  /** `again`: nothing of ours can be mined any more, and nothing is known to stand against another try. */
  async #judge(
    entry: SettlementEntry,
    end: Exclude<PaymentEnd, { outcome: 'excluded' }>,
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
        return this.#judgeEnded(entry, end.news, mayTryAgain);
    }
  }

  async #judgeEnded(entry: SettlementEntry, news: EndedJob, mayTryAgain: boolean): Promise<SettlementResult | 'again'> {
    const txHash = news.outcome === 'over' ? news.txHash : null;
    const result = await this.#explain(entry, txHash, 'settlement_failed');
    const isUnexplained = result.outcome === 'failed' && result.failure === 'settlement_failed';
    return isUnexplained && mayTryAgain ? 'again' : result;
  }

  /** Asks until the chain answers: an answer that nobody waits for any more costs nothing. */
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

  async #describePending({ jobId }: Settling): Promise<SettlementResult> {
    const job = jobId === null ? null : await this.options.journal.readJob(jobId).catch(() => null);
    return { outcome: 'pending', txHash: job?.steps[0]?.attempts.at(-1)?.hash ?? null };
  }

  #keptMs({ authorization }: SettlementEntry): number {
    const { nowMs, windowMs } = this.options;
    const validMs = Number(authorization.validBefore) * 1000 - nowMs();
    return Math.ceil(Math.min(Math.max(validMs, 0), LONGEST_VALIDITY_MS) + windowMs);
  }
}

/** Whoever asks has verified the payment; what costs gas and cannot be what he wants is not sent all the same. */
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

/** Null when the time is over first. By hand, since signals made of signals cost more than the rest of a request. */
function within<T>(promise: Promise<T>, timeoutMs: number, signal: AbortSignal): Promise<T | null> {
  return new Promise((resolve, reject) => {
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', giveUp);
    };
    const giveUp = (): void => {
      end();
      resolve(null);
    };
    const timer = setTimeout(giveUp, timeoutMs);
    signal.addEventListener('abort', giveUp);
    if (signal.aborted) giveUp();
    void promise.then(resolve, reject).finally(end);
  });
}
