import type { SettlementResult, SettleSignedPaymentRequest } from '@tollgate/common';
import type { Hex, PaymentFailure, TransferAuthorization } from '@tollgate/protocol';
import type { Journal } from '@tollgate/transactions';

import { explainUnsettled, type SettledChain } from './explain-unsettled.js';
import type { EndedJob, JobWatch } from './job-watch.js';
import { pause } from './pause.js';
import type { PaymentEnd, Relayer } from './relayer.js';
import { nameSettlement, type SettlementEntry } from './settlement-entry.js';

export interface SettlementsOptions {
  chainId: number;
  journal: Pick<Journal, 'readJob'>;
  jobs: JobWatch;
  chain: SettledChain;
  /** How long somebody who asks is kept waiting at most. */
  waitMs: number;
  /** How long a payment may be redeemed after its block. */
  windowMs: number;
  /** Redis's clock. */
  nowMs: () => number;
  onTrouble: (error: unknown) => void;
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
    const { chainId, nowMs, waitMs } = this.options;
    const { terms, payment, deadlineMs, amountBaseUnits } = request;
    if (terms.chainId !== chainId || payment.kind !== 'authorization') {
      return { outcome: 'unavailable', reason: 'settings_differ' };
    }
    const mismatch = findMismatch(payment.authorization, request);
    if (mismatch) return { outcome: 'failed', failure: mismatch, txHash: null };
    const patienceMs = Math.min(deadlineMs - nowMs(), waitMs);
    if (patienceMs <= 0) return { outcome: 'unavailable', reason: 'deadline_passed' };
    const { asset, payTo } = terms;
    const settling = this.#join({ asset, payTo, amountBaseUnits, payment }, relayer);
    return (await within(settling.result, patienceMs, signal)) ?? this.#describePending(settling);
  }

  /** What is under way goes on in the journal; whoever waits here is told so. */
  close(): void {
    this.#closing.abort();
  }

  #join(entry: SettlementEntry, relayer: Relayer): Settling {
    const name = nameSettlement(this.options.chainId, entry);
    const known = this.#underWay.get(name);
    if (known) return known;
    const settling: Settling = { result: Promise.resolve({ outcome: 'pending', txHash: null }), jobId: null };
    this.#underWay.set(name, settling);
    settling.result = this.#carryOut(name, entry, relayer, settling).finally(() => this.#underWay.delete(name));
    return settling;
  }

  async #carryOut(
    name: string,
    entry: SettlementEntry,
    relayer: Relayer,
    settling: Settling,
  ): Promise<SettlementResult> {
    const record = { name, keptMs: this.#keptMs(entry) };
    let endedJobId: string | null = null;
    for (let tries = 1; ; tries++) {
      const end: PaymentEnd = await relayer.carryOut({ entry, record, endedJobId, isAlone: tries > 1 }, (jobId) => {
        settling.jobId = jobId;
      });
      const result = await this.#judge(entry, end, tries < MOST_TRIES);
      if (result !== 'again') return result;
      if ('jobId' in end) endedJobId = end.jobId;
    }
  }

  /** `again`: nothing of ours can be mined any more, and nothing is known to stand against another try. */
  async #judge(entry: SettlementEntry, end: PaymentEnd, mayTryAgain: boolean): Promise<SettlementResult | 'again'> {
    switch (end.outcome) {
      case 'settled':
        return settled(entry, end.txHash);
      case 'unavailable':
        return end;
      case 'refused':
        return this.#explain(entry, null, end.failure);
      case 'elsewhere': {
        const news = await this.options.jobs.untilEnded(end.jobId);
        return this.#judgeEnded(entry, news, mayTryAgain);
      }
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

  #keptMs({ payment }: SettlementEntry): number {
    const validMs = Number(payment.authorization.validBefore) * 1000 - this.options.nowMs();
    return Math.ceil(Math.min(Math.max(validMs, 0), LONGEST_VALIDITY_MS) + this.options.windowMs);
  }
}

function settled({ payment, amountBaseUnits }: SettlementEntry, txHash: Hex): SettlementResult {
  return { outcome: 'settled', txHash, payer: payment.authorization.from, amountBaseUnits };
}

/** Whoever asks has verified the payment; what costs gas and cannot be what he wants is not sent all the same. */
function findMismatch(
  { to, value }: TransferAuthorization,
  { terms, amountBaseUnits }: SettleSignedPaymentRequest,
): PaymentFailure | null {
  if (to !== terms.payTo) return 'recipient_mismatch';
  return BigInt(value) === BigInt(amountBaseUnits) ? null : 'amount_mismatch';
}

/** Null when the time is over first. */
async function within<T>(promise: Promise<T>, timeoutMs: number, signal: AbortSignal): Promise<T | null> {
  const over = new AbortController();
  const late = pause(timeoutMs, AbortSignal.any([signal, over.signal])).then(() => null);
  return Promise.race([promise, late]).finally(() => over.abort());
}
