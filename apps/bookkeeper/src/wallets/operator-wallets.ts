import { Inject, Injectable } from '@nestjs/common';
import {
  describeGap,
  explainNoFill,
  fillGap,
  listAccounts,
  type Account,
  type NonceGapView,
  type WalletLimit,
} from '@tollgate/agent-jobs';
import { ProblemError } from '@tollgate/http';
import { isLeaseRunning, type JobFailure, type LaneId, type LaneStatus, type LaneTransition } from '@tollgate/journal';
import type { LimitToday, OperatorFill, OperatorWallet } from '@tollgate/operator-api';
import { REFUNDS_WALLET } from '@tollgate/refunds';

import { BookHolder } from '../book/book-holder.js';
import { SellerChain } from '../chain/seller-chain.js';
import { BookkeeperEnvironment } from '../config/bookkeeper.config.js';
import { Journals } from '../journals/journals.js';
import { findRefundable } from './find-refundable.js';

/** Looks at the accounts that send, pauses them, and fills their gaps. */
@Injectable()
export class OperatorWallets {
  constructor(
    @Inject(Journals) private readonly journals: Journals,
    @Inject(SellerChain) private readonly chain: SellerChain,
    @Inject(BookHolder) private readonly book: BookHolder,
    @Inject(BookkeeperEnvironment) private readonly environment: BookkeeperEnvironment,
  ) {}

  /** One with several names is listed under each. */
  async list(): Promise<OperatorWallet[]> {
    const described = (await listAccounts(this.journals)).map((account) => this.#describe(account));
    return (await Promise.all(described)).flat();
  }

  async pauseWallet(name: string, reason: string): Promise<OperatorWallet> {
    const lane = await this.#findWallet(name);
    const { journal } = this.journals;
    const mend = `tollgate wallets resume ${name}`;
    return this.#showAfter(
      { lane, role: 'wallet', names: [name] },
      await journal.pauseLane(lane, pausedBy(reason, mend)),
    );
  }

  async resumeWallet(name: string): Promise<OperatorWallet> {
    const lane = await this.#findWallet(name);
    return this.#showAfter({ lane, role: 'wallet', names: [name] }, await this.journals.journal.resumeLane(lane));
  }

  /** Has the worker fill the nonce, if the wallet waits for it. `isDry`: only says what that would cancel. */
  async fillNonce(
    keyId: string,
    name: string,
    { nonce, isDry }: { nonce: number; isDry: boolean },
  ): Promise<OperatorFill> {
    const lane = await this.#findWallet(name);
    const { journal } = this.journals;
    const gap = await describeGap(journal, await journal.readLane(lane));
    if (gap?.nonce !== nonce) throw noGap('The wallet does not wait for this nonce; see its `gap`.', gap);
    if (isDry) return { gap, jobId: null };
    const filled = await fillGap(journal, gap, { lane, wallet: name, keyId });
    if (filled.outcome === 'refused') throw noGap(explainNoFill(filled.reason), gap);
    return { gap, jobId: filled.jobId };
  }

  async pauseRelayer(address: string, reason: string): Promise<OperatorWallet> {
    const lane = await this.#findRelayer(address);
    const relayers = await this.journals.of('relayer');
    const mend = `POST /operator/relayers/${lane.address}/resume`;
    return this.#showAfter(
      { lane, role: 'relayer', names: [] },
      await relayers.pauseLane(lane, pausedBy(reason, mend)),
    );
  }

  async resumeRelayer(address: string): Promise<OperatorWallet> {
    const lane = await this.#findRelayer(address);
    const relayers = await this.journals.of('relayer');
    return this.#showAfter({ lane, role: 'relayer', names: [] }, await relayers.resumeLane(lane));
  }

  async #findWallet(name: string): Promise<LaneId> {
    const entry = await this.journals.directory.find(name);
    if (entry === null) throw notFound(`No worker has a wallet named "${name.slice(0, 64)}".`);
    return entry.lane;
  }

  async #findRelayer(address: string): Promise<LaneId> {
    const lanes = await this.journals.relayers.readLanes();
    const lane = lanes.find((one) => one.address === address.toLowerCase() && one.chainId === this.chain.chainId);
    if (lane === undefined) throw notFound('No verifier has a relayer with this address on the chain of the seller.');
    return lane;
  }

  async #showAfter(account: Account, result: LaneTransition): Promise<OperatorWallet> {
    if (result.outcome === 'refused') {
      const detail = `The account ${account.lane.address} is not adopted: nothing is sent from it.`;
      throw new ProblemError({ status: 409, code: 'wallet_not_adopted', detail });
    }
    const [described] = await this.#describe(account);
    if (described === undefined) throw notFound('The account is gone.');
    return described;
  }

  async #describe({ lane, role, names }: Account): Promise<OperatorWallet[]> {
    const journal = role === 'relayer' ? this.journals.relayers : this.journals.journal;
    const [status, balance, tokens] = await Promise.all([
      journal.readLane(lane),
      this.#readOnChain(lane, () => this.chain.readBalance(lane.address)),
      this.#readOnChain(lane, () => this.chain.readTokenBalance(lane.address)),
    ]);
    const known = names.length === 0 ? [null] : names;
    const gap = await describeGap(journal, status);
    return Promise.all(
      known.map(async (name) => {
        const limits = await this.#readLimits(name, lane);
        const refundable =
          name === REFUNDS_WALLET && tokens !== null ? await this.#readRefundable(tokens, limits) : null;
        return {
          role,
          name,
          ...lane,
          nextNonce: status.nextNonce,
          openJobs: status.openJobs,
          inFlight: status.unminedSteps,
          paused: status.paused,
          frozen: status.frozen,
          gap,
          balanceWei: balance?.toString() ?? null,
          tokenBalance: tokens?.toString() ?? null,
          refundable: refundable?.toString() ?? null,
          heldBy: holderOf(status.lease),
          limits,
        };
      }),
    );
  }

  async #readOnChain(lane: LaneId, readBalance: () => Promise<bigint | null>): Promise<bigint | null> {
    if (lane.chainId !== this.chain.chainId) return null;
    return readBalance().catch(() => null);
  }

  async #readRefundable(tokens: bigint, limits: readonly LimitToday[] | null): Promise<bigint | null> {
    if (!this.book.isActive) return null;
    const { assetAddress, assetDecimals } = this.environment.payment;
    const asset = assetAddress.toLowerCase();
    const caps = this.environment.refunds.caps(assetDecimals);
    const refundedToday = await this.book.refunds.readToday();
    const limit = limits?.find((one) => one.asset.toLowerCase() === asset) ?? null;
    return findRefundable({ tokens, caps, refundedToday, limit });
  }

  async #readLimits(name: string | null, lane: LaneId): Promise<LimitToday[] | null> {
    const limits = name === null ? null : await this.journals.directory.findLimits(name);
    if (limits === null || limits.length === 0) return limits === null ? null : [];
    const spent = await this.journals.journal.readSpentToday(lane);
    return limits.map((limit) => ({ ...limit, leftToday: leftOf(limit, spent[limit.asset]) }));
  }
}

/** A process that was killed has its lease until the end of it, and no longer. */
function holderOf(lease: LaneStatus['lease']): string | null {
  return lease !== null && isLeaseRunning(lease, Date.now()) ? lease.owner : null;
}

function leftOf({ perDay }: WalletLimit, spent = '0'): string | null {
  if (perDay === null) return null;
  const left = BigInt(perDay) - BigInt(spent);
  return String(left > 0n ? left : 0n);
}

function pausedBy(message: string, mend: string): JobFailure {
  return { code: 'PAUSED_BY_OPERATOR', message, suggestion: `To end the pause: ${mend}` };
}

function noGap(detail: string, gap: NonceGapView | null): ProblemError {
  return new ProblemError({ status: 409, code: 'nonce_not_unused', detail, members: { gap } });
}

function notFound(detail: string): ProblemError {
  return new ProblemError({ status: 404, code: 'wallet_not_found', detail });
}
