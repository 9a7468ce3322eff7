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
import type { PaymentOption } from '@tollgate/config';
import { ProblemError } from '@tollgate/http';
import {
  isLeaseRunning,
  nameLane,
  type JobFailure,
  type LaneId,
  type LaneStatus,
  type LaneTransition,
} from '@tollgate/journal';
import type { LimitToday, OperatorFill, OperatorWallet } from '@tollgate/operator-api';
import { isRefundsWallet } from '@tollgate/refunds';

import { BookHolder } from '../book/book-holder.js';
import type { SellerChain } from '../chain/seller-chain.js';
import { SellerChains } from '../chain/seller-chains.js';
import { BookkeeperEnvironment } from '../config/bookkeeper.config.js';
import { Journals } from '../journals/journals.js';
import { findRefundable } from './find-refundable.js';

/** Looks at the accounts that send, pauses them, and fills their gaps. */
@Injectable()
export class OperatorWallets {
  constructor(
    @Inject(Journals) private readonly journals: Journals,
    @Inject(SellerChains) private readonly chains: SellerChains,
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
    const [lane, ...others] = lanes.filter((one) => this.chains.find(one.chainId) && isNamed(one, address));
    if (lane === undefined) throw notFound('No verifier has a relayer with this address on the chain of the seller.');
    if (others.length === 0) return lane;
    const names = [lane, ...others].map(nameLane).join(', ');
    throw notFound(`Relayers on several chains have this address. Name the chain too: ${names}.`);
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
    const options = this.environment.tokens.filter(({ chain }) => chain.id === lane.chainId);
    const [status, balance, ...balances] = await Promise.all([
      journal.readLane(lane),
      this.#readOnChain(lane, (chain) => chain.readBalance(lane.address)),
      ...options.map(({ asset }) => this.#readOnChain(lane, (chain) => chain.readTokenBalance(asset, lane.address))),
    ]);
    const known = names.length === 0 ? [null] : names;
    const gap = await describeGap(journal, status);
    return Promise.all(
      known.map(async (name) => {
        const limits = await this.#readLimits(name, lane);
        const isPayer = name !== null && isRefundsWallet(name);
        const tokens = await Promise.all(
          options.map(async (option, index) => {
            const held = balances[index] ?? null;
            const refundable = isPayer && held !== null ? await this.#readRefundable(option, held, limits) : null;
            return { asset: option.asset, balance: toText(held), refundable: toText(refundable) };
          }),
        );
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
          balanceWei: toText(balance),
          tokenBalance: tokens[0]?.balance ?? null,
          refundable: tokens[0]?.refundable ?? null,
          tokens,
          heldBy: holderOf(status.lease),
          limits,
        };
      }),
    );
  }

  async #readOnChain(
    lane: LaneId,
    readBalance: (chain: SellerChain) => Promise<bigint | null>,
  ): Promise<bigint | null> {
    const chain = this.chains.find(lane.chainId);
    return chain === undefined ? null : readBalance(chain).catch(() => null);
  }

  async #readRefundable(
    option: PaymentOption,
    tokens: bigint,
    limits: readonly LimitToday[] | null,
  ): Promise<bigint | null> {
    if (!this.book.isActive) return null;
    const { asset, chain } = option;
    const caps = this.environment.refunds.caps(option);
    const refundedToday = await this.book.refunds.readToday({ chainId: chain.id, asset });
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

/** Whether an operator means this account: by its address, or with its chain, as `<chain id>:<address>`. */
function isNamed(lane: LaneId, named: string): boolean {
  return [lane.address, nameLane(lane)].includes(named.toLowerCase());
}

const toText = (units: bigint | null): string | null => units?.toString() ?? null;

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
