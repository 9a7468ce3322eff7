import type { SettlementResult, SettleSignedPaymentRequest } from '@tollgate/common';
import type { Hex, PaymentFailure, SignedPermit } from '@tollgate/protocol';
import { createJobId, createLaneId, type Journal, type LaneId } from '@tollgate/transactions';

import type { ChainReader } from '../chain/chain-reader.js';
import type { EmittedLog } from '../chain/receipt.js';
import { findPermitTransfers } from '../permits/find-permit-transfers.js';
import { findPermitUse } from '../permits/find-permit-use.js';
import { PROXIES } from '../permits/permit-proxy.js';
import type { JobWatch } from './job-watch.js';
import { pause } from './pause.js';
import { encodePermitJob, namePermitSettlement, SETTLE_PERMIT_OPERATION } from './permit-job.js';
import type { SettlementRecord, SettlementRecords } from './settlement-records.js';

export interface PermitSettlementsOptions {
  chainId: number;
  journal: Pick<Journal, 'submitNamed'>;
  jobs: JobWatch;
  records: SettlementRecords;
  reader: ChainReader;
  /** How long somebody who asks is kept waiting at most. */
  waitMs: number;
  /** How long a payment may be redeemed after its block. */
  windowMs: number;
  /** Redis's clock. */
  nowMs: () => number;
  onTrouble: (error: unknown) => void;
}

/** Who was asked to settle. */
export interface AskedRelayer {
  lane: LaneId;
  wake: (jobId: string) => void;
}

type PermitRequest = SettleSignedPaymentRequest & { payment: SignedPermit };

const LOOK_AGAIN_MS = 500;
const ANSWERS_WITHIN_MS = 5_000;
const LONGEST_VALIDITY_MS = 86_400_000;

/** Settles permits, each once and each in a transaction of its own: under scheme `upto` nobody may send it for a relayer. */
export class PermitSettlements {
  readonly #underWay = new Map<string, Promise<SettlementResult>>();
  readonly #closing = new AbortController();

  constructor(private readonly options: PermitSettlementsOptions) {}

  /** Never throws for what payers, the chain or Redis do. `signal`: this process gives the relayer back. */
  async settle(request: PermitRequest, relayer: AskedRelayer, signal: AbortSignal): Promise<SettlementResult> {
    const { chainId, nowMs, waitMs } = this.options;
    if (request.terms.chainId !== chainId) return { outcome: 'unavailable', reason: 'settings_differ' };
    const mismatch = findMismatch(request);
    if (mismatch) return { outcome: 'failed', failure: mismatch, txHash: null };
    const patienceMs = Math.min(request.deadlineMs - nowMs(), waitMs);
    if (patienceMs <= 0) return { outcome: 'unavailable', reason: 'deadline_passed' };
    const over = new AbortController();
    const pending = { outcome: 'pending', txHash: null } as const;
    const late = pause(patienceMs, AbortSignal.any([signal, over.signal])).then(() => pending);
    return Promise.race([this.#join(request, relayer), late]).finally(() => over.abort());
  }

  /** What is under way goes on in the journal. */
  close(): void {
    this.#closing.abort();
  }

  #join(request: PermitRequest, relayer: AskedRelayer): Promise<SettlementResult> {
    const name = namePermitSettlement(this.options.chainId, request.terms.payTo, request.payment);
    const known = this.#underWay.get(name);
    if (known) return known;
    const settling = this.#carryOut(name, request, relayer).finally(() => this.#underWay.delete(name));
    this.#underWay.set(name, settling);
    return settling;
  }

  async #carryOut(name: string, request: PermitRequest, relayer: AskedRelayer): Promise<SettlementResult> {
    const { chainId, jobs, records, onTrouble } = this.options;
    const { payment } = request;
    // The account that the payer signed sends it, whichever process works on it.
    const lane =
      payment.scheme === 'upto'
        ? createLaneId(chainId, payment.permit2Authorization.witness.facilitator)
        : relayer.lane;
    const jobId = createJobId(lane);
    const record = { name, keptMs: this.#keptMs(payment) };
    try {
      const [holder = jobId] = await records.claim([record], jobId);
      if (holder !== jobId) return await this.#judgeEnded(request, record, holder);
      const mined = jobs.untilMined(jobId);
      const reason = await this.#submit(request, { lane, jobId }, relayer);
      if (reason !== null) {
        await records.release(record, jobId);
        return { outcome: 'unavailable', reason };
      }
      const news = await mined;
      const moved = news.outcome === 'mined' ? findMoved(news.logs, request) : null;
      if (news.outcome === 'mined' && moved !== null) return settled(request, news.txHash, moved);
      return await this.#judgeEnded(request, record, jobId);
    } catch (error) {
      onTrouble(error);
      return { outcome: 'pending', txHash: null };
    }
  }

  /** Why the job was not accepted for certain; null: it was, or may have been. */
  async #submit(
    { payment, amountBaseUnits }: PermitRequest,
    { lane, jobId }: { lane: LaneId; jobId: string },
    relayer: AskedRelayer,
  ): Promise<string | null> {
    const input = encodePermitJob(payment, amountBaseUnits);
    const named = { lane, jobId, operation: SETTLE_PERMIT_OPERATION, input, wallet: 'relayer', keyId: 'verifier' };
    try {
      const submitted = await this.options.journal.submitNamed(named);
      if (submitted.outcome === 'refused') return `relayer_${submitted.reason}`;
      if (lane.address === relayer.lane.address) relayer.wake(jobId);
    } catch (error) {
      // Whether it was written is unknown: the journal tells in time.
      this.options.onTrouble(error);
    }
    return null;
  }

  /** Nothing of this job can be mined any more: what it has mined, or whoever else has sent the permit, decides. */
  async #judgeEnded(request: PermitRequest, record: SettlementRecord, jobId: string): Promise<SettlementResult> {
    const { jobs, records, onTrouble } = this.options;
    const news = await jobs.untilEnded(jobId);
    const txHash = news.outcome === 'over' ? news.txHash : null;
    while (!this.#closing.signal.aborted) {
      try {
        const result = await this.#explain(request, txHash);
        // A later try is a job of its own.
        if (result.outcome === 'failed') await records.release(record, jobId);
        return result;
      } catch (error) {
        onTrouble(error);
      }
      await pause(LOOK_AGAIN_MS, this.#closing.signal);
    }
    return { outcome: 'pending', txHash };
  }

  /** @throws ChainUnavailableError */
  async #explain(request: PermitRequest, txHash: Hex | null): Promise<SettlementResult> {
    const { reader, nowMs, windowMs } = this.options;
    const { payment, terms } = request;
    const { from: owner, nonce, deadline } = payment.permit2Authorization;
    const startedAtMs = nowMs();
    const deadlineMs = startedAtMs + ANSWERS_WITHIN_MS;
    if (txHash !== null) {
      const { mined } = await reader.readTransaction(txHash, deadlineMs);
      if (mined === null) return { outcome: 'pending', txHash };
      const moved = findMoved(mined.receipt.logs, request);
      if (moved !== null) return settled(request, txHash, moved);
    }
    const { isTaken, headBlockNumber } = await reader.readPermitNonce({ owner, nonce }, deadlineMs);
    if (!isTaken) {
      const isOver = BigInt(deadline) * 1000n <= BigInt(Math.floor(startedAtMs));
      return { outcome: 'failed', failure: isOver ? 'authorization_expired' : 'settlement_failed', txHash };
    }
    const promised = { asset: terms.asset, payTo: terms.payTo, payment };
    const use = await findPermitUse(reader, { promised, sinceMs: startedAtMs - windowMs, deadlineMs }, headBlockNumber);
    if (use.outcome === 'settled') return settled(request, use.txHash, use.amountBaseUnits);
    return { outcome: 'failed', failure: 'payment_used', txHash };
  }

  #keptMs({ permit2Authorization: { deadline } }: SignedPermit): number {
    const validMs = Number(deadline) * 1000 - this.options.nowMs();
    return Math.ceil(Math.min(Math.max(validMs, 0), LONGEST_VALIDITY_MS) + this.options.windowMs);
  }
}

function settled({ payment }: PermitRequest, txHash: Hex, amount: bigint): SettlementResult {
  const payer = payment.permit2Authorization.from;
  return { outcome: 'settled', txHash, payer, amountBaseUnits: amount.toString() };
}

/** What the scheme's proxy moved from the payer to the recipient; null where it moved nothing. */
function findMoved(logs: readonly EmittedLog[], { payment, terms }: PermitRequest): bigint | null {
  const transfers = [...findPermitTransfers(logs, terms.asset).values()];
  const own = transfers.find(
    ({ from, to, proxy }) =>
      from === payment.permit2Authorization.from && to === terms.payTo && proxy === PROXIES[payment.scheme],
  );
  return own?.amountBaseUnits ?? null;
}

/** Whoever asks has verified the payment; what costs gas and cannot be what he wants is not sent all the same. */
function findMismatch({ payment, terms, amountBaseUnits }: PermitRequest): PaymentFailure | null {
  const { permitted, spender, witness } = payment.permit2Authorization;
  const [amount, most] = [BigInt(amountBaseUnits), BigInt(permitted.amount)];
  if (permitted.token !== terms.asset) return 'asset_mismatch';
  if (spender !== PROXIES[payment.scheme]) return 'spender_mismatch';
  if (witness.to !== terms.payTo) return 'recipient_mismatch';
  const isFit = payment.scheme === 'upto' ? amount > 0n && amount <= most : amount === most;
  return isFit ? null : 'amount_mismatch';
}
