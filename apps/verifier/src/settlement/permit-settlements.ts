import { type ChainReader, findMoved, findPermitUse, SENT_BY_ANOTHER } from '@tollgate/chain';
import type { SettlementResult } from '@tollgate/common';
import { crashPoint, createJobId, createLaneId, pause, type Journal, type LaneId } from '@tollgate/journal';
import { signedPaymentId, type Ledger } from '@tollgate/ledger';
import type { Hex } from '@tollgate/protocol';

import { noteForRefund } from '../verification/note-for-refund.js';
import type { BurningPayers } from './burning-payers.js';
import { SUBMITTED_WITHIN_MS, type JobWatch } from './job-watch.js';
import { JoinedSettlements, type JoinedSettlementsOptions, type Settling } from './joined-settlements.js';
import type { PayersMeans } from './payers-means.js';
import { encodePermitJob, namePermitSettlement, SETTLE_PERMIT_OPERATION } from './permit-job.js';
import { findMismatch, promisedBy, settled, type PermitRequest } from './permit-request.js';
import { keptMsFor, type SettlementRecord, type SettlementRecords } from './settlement-records.js';

export interface PermitSettlementsOptions extends JoinedSettlementsOptions {
  chainId: number;
  journal: Pick<Journal, 'readJob' | 'submitNamed'>;
  jobs: JobWatch;
  records: SettlementRecords;
  reader: ChainReader;
  means: PayersMeans;
  burning: BurningPayers;
  ledger: Pick<Ledger, 'recordRefusal'>;
  /** How long a payment may be redeemed after its block. */
  windowMs: number;
}

/** The relayer that was asked to settle. */
export interface AskedRelayer {
  lane: LaneId;
  wake: (jobId: string) => void;
}

const PENDING: SettlementResult = { outcome: 'pending', txHash: null };
/** No job is started once the payer may have been asked to sign anew. */
const UNWANTED: SettlementResult = { outcome: 'unavailable', reason: 'nobody_waits' };
const TURNED_AWAY: SettlementResult = { outcome: 'unavailable', reason: 'payer_busy' };
const LOOK_AGAIN_MS = 500;
const ANSWERS_WITHIN_MS = 5_000;

/**
 * Settles permits, each once and each in its own transaction: under scheme `upto` only the relayer itself may be the
 * sender.
 */
export class PermitSettlements {
  readonly #joined: JoinedSettlements;
  readonly #closing = new AbortController();

  constructor(private readonly options: PermitSettlementsOptions) {
    this.#joined = new JoinedSettlements(options);
  }

  /** Payments whose settlement is in progress in this process. */
  get underWay(): number {
    return this.#joined.size;
  }

  /** Never throws because of payers, the chain or Redis. `signal` aborts when this process releases the relayer. */
  async settle(request: PermitRequest, relayer: AskedRelayer, signal: AbortSignal): Promise<SettlementResult> {
    const { chainId } = this.options;
    if (request.terms.chainId !== chainId) return { outcome: 'unavailable', reason: 'settings_differ' };
    const mismatch = findMismatch(request);
    if (mismatch) return { outcome: 'failed', failure: mismatch, txHash: null };
    const name = namePermitSettlement(chainId, request.terms.payTo, request.payment);
    const { questionId, deadlineMs } = request;
    return this.#joined.settle(name, { questionId, deadlineMs, signal }, (settling) =>
      this.#carryOut(name, request, relayer, settling),
    );
  }

  /** Settlements in progress continue in the journal. */
  close(): void {
    this.#closing.abort();
  }

  async #carryOut(
    name: string,
    request: PermitRequest,
    relayer: AskedRelayer,
    settling: Settling,
  ): Promise<SettlementResult> {
    const { payment, terms, amountBaseUnits, questionId } = request;
    const record = { name, questionId, keptMs: keptMsFor(payment.permit2Authorization.deadline, this.options) };
    const payer = payment.permit2Authorization.from;
    const claimed = { asset: terms.asset, payer, amountBaseUnits: BigInt(amountBaseUnits) };
    try {
      for (;;) {
        const result = await this.options.means.spend(claimed, () =>
          settling.isWanted() ? this.#tryOnce(record, request, relayer, settling) : Promise.resolve(UNWANTED),
        );
        if (result === null) return TURNED_AWAY;
        if (result !== 'again') return result;
      }
    } catch (error) {
      this.options.onTrouble(error);
      return PENDING;
    }
  }

  async #tryOnce(
    record: SettlementRecord,
    request: PermitRequest,
    relayer: AskedRelayer,
    settling: Settling,
  ): Promise<SettlementResult | 'again'> {
    const { chainId, jobs, records, burning, onTrouble } = this.options;
    const { payment } = request;
    // Only the account that the payer signed can send it, whichever process works on that account.
    const lane =
      payment.scheme === 'upto'
        ? createLaneId(chainId, payment.permit2Authorization.witness.facilitator)
        : relayer.lane;
    const jobId = createJobId(lane);
    const latestMs = this.options.nowMs() + SUBMITTED_WITHIN_MS;
    const [holding = { jobId }] = await records.claim([record], jobId);
    if ('answer' in holding) {
      settling.isAnswered = true;
      return holding.answer;
    }
    settling.jobId = holding.jobId;
    if (holding.jobId !== jobId) return this.#judgeEnded(request, record, holding.jobId);
    const payer = payment.permit2Authorization.from;
    if ((await burning.findBarred([payer])).has(payer)) {
      await records.release(record, jobId);
      return this.#explain(request, null);
    }
    const mined = jobs.untilMined(jobId);
    const reason = await this.#submit(request, { lane, jobId, latestMs }, relayer);
    if (reason !== null) {
      await records.release(record, jobId);
      return { outcome: 'unavailable', reason };
    }
    const news = await mined;
    crashPoint('S3');
    const moved = news.outcome === 'mined' ? findMoved(news.logs, promisedBy(request)) : null;
    if (news.outcome === 'mined' && moved !== null) return settled(request, news.txHash, moved);
    const result = await this.#judgeEnded(request, record, jobId);
    const isMined = (news.outcome === 'mined' || news.outcome === 'over') && news.txHash !== null;
    if (isMined && result !== 'again' && result.outcome === 'failed') await burning.note(payer).catch(onTrouble);
    return result;
  }

  /** The reason why the job was certainly not accepted; null when it was, or may have been. */
  async #submit(
    { payment, amountBaseUnits }: PermitRequest,
    job: { lane: LaneId; jobId: string; latestMs: number },
    relayer: AskedRelayer,
  ): Promise<string | null> {
    const input = encodePermitJob(payment, amountBaseUnits);
    const { lane, jobId } = job;
    const named = { ...job, operation: SETTLE_PERMIT_OPERATION, input, wallet: 'relayer', keyId: 'verifier' };
    crashPoint('S1');
    try {
      const submitted = await this.options.journal.submitNamed(named);
      if (submitted.outcome === 'refused') return `relayer_${submitted.reason}`;
      crashPoint('S2');
      if (lane.address === relayer.lane.address) relayer.wake(jobId);
    } catch (error) {
      // Unknown whether it was written; the journal will show it.
      this.options.onTrouble(error);
    }
    return null;
  }

  /**
   * Decides when no transaction of this job can be mined any more, from what the job mined or what another sender did
   * with the permit. `again`: the job never existed, because the process that meant to submit it died.
   */
  async #judgeEnded(
    request: PermitRequest,
    record: SettlementRecord,
    jobId: string,
  ): Promise<SettlementResult | 'again'> {
    const { jobs, records, onTrouble } = this.options;
    const news = await jobs.untilEnded(jobId);
    const txHash = news.outcome === 'over' ? news.txHash : null;
    while (!this.#closing.signal.aborted) {
      try {
        const result = await this.#explain(request, txHash);
        // A later attempt is a job of its own.
        if (result.outcome === 'failed') await records.release(record, jobId);
        const isUntried = news.outcome === 'unknown' && isUnexplained(result);
        return isUntried ? 'again' : result;
      } catch (error) {
        onTrouble(error);
      }
      await pause(LOOK_AGAIN_MS, this.#closing.signal);
    }
    return { outcome: 'pending', txHash };
  }

  /** @throws ChainUnavailableError, LedgerUnavailableError */
  async #explain(request: PermitRequest, txHash: Hex | null): Promise<SettlementResult> {
    const { reader, nowMs, windowMs } = this.options;
    const { payment, terms } = request;
    const { from: owner, nonce, deadline } = payment.permit2Authorization;
    const promised = promisedBy(request);
    const startedAtMs = nowMs();
    const deadlineMs = startedAtMs + ANSWERS_WITHIN_MS;
    if (txHash !== null) {
      const { mined } = await reader.readTransaction(txHash, deadlineMs);
      if (mined === null) return { outcome: 'pending', txHash };
      const moved = findMoved(mined.receipt.logs, promised);
      if (moved !== null) return settled(request, txHash, moved);
    }
    const { isTaken, headBlockNumber } = await reader.readPermitNonce({ owner, nonce }, deadlineMs);
    if (!isTaken) {
      const isOver = BigInt(deadline) * 1000n <= BigInt(Math.floor(startedAtMs));
      return { outcome: 'failed', failure: isOver ? 'authorization_expired' : 'settlement_failed', txHash };
    }
    const use = await findPermitUse(reader, { promised, sinceMs: startedAtMs - windowMs, deadlineMs }, headBlockNumber);
    if (use.outcome === 'settled') return settled(request, use.txHash, use.amountBaseUnits);
    // Recorded before the payer gets the answer: after a refusal it may never show the payment again.
    if (use.outcome === 'unclear') {
      const { amountBaseUnits, minedAtMs } = use;
      const record = { id: signedPaymentId(terms, payment), payer: owner, amountBaseUnits, minedAtMs };
      await noteForRefund(this.options.ledger, { ...record, failure: 'payment_used', detail: SENT_BY_ANOTHER });
    }
    return { outcome: 'failed', failure: 'payment_used', txHash };
  }
}

function isUnexplained(result: SettlementResult): boolean {
  return result.outcome === 'failed' && result.failure === 'settlement_failed';
}
