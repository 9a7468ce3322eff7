import { Inject, Injectable, Logger } from '@nestjs/common';
import type { WalletDirectory } from '@tollgate/agent-jobs';
import { DeposedError, SqlRefundBook, type BookWriter } from '@tollgate/book';
import { chainsOf, nameOption } from '@tollgate/config';
import { pause } from '@tollgate/journal';
import { Ledger, readBookedSinceMs } from '@tollgate/ledger';
import {
  nameRefundsWallet,
  Refunds,
  type Refund,
  type RefundOption,
  type RefundWallet,
  type SharedPorts,
} from '@tollgate/refunds';

import { runOfEach } from '../chain/run-of-each.js';
import { SellerChains } from '../chain/seller-chains.js';
import { BookkeeperEnvironment } from '../config/bookkeeper.config.js';
import { BookkeeperConnections } from '../drain/connections.js';
import { OutboxDrain } from '../drain/outbox-drain.js';
import { Journals } from '../journals/journals.js';

const LOOK_EVERY_MS = 1_000;

/** Gives refunds their ports, and brings them to their end while the book is ours. */
@Injectable()
export class BookRefunds {
  readonly #logger = new Logger('Refunds');
  readonly #shared: Omit<SharedPorts, 'book'>;
  readonly #options: readonly RefundOption[];
  readonly #of = new WeakMap<BookWriter, Refunds>();

  constructor(
    @Inject(BookkeeperConnections) { commands: redis }: BookkeeperConnections,
    @Inject(BookkeeperEnvironment) environment: BookkeeperEnvironment,
    @Inject(SellerChains) sellerChains: SellerChains,
    @Inject(OutboxDrain) outbox: OutboxDrain,
    @Inject(Journals) { journal, directory }: Journals,
  ) {
    const { redis: settings, refunds, chains, payment } = environment;
    const { durability, bookOutboxLimit: outboxLimit } = settings;
    const chainIds = chains.map(({ id }) => id);
    const ledger = new Ledger({ redis, chainIds, durability, book: { outboxLimit } });
    this.#shared = { outbox, journal, ledger };
    this.#options = environment.tokens.map((option): RefundOption => {
      const { asset, decimals, chain } = option;
      const names = nameRefundsWallet(chain.name);
      const own = environment.scopes.filter((scope) => scope.chainId === chain.id && scope.asset === asset);
      return {
        chain: sellerChains.of(chain.id),
        readBookedSinceMs: () => readBookedSinceMs(redis, [chain.id]),
        findWallet: () => findWallet(directory, names, chain.id),
        settings: {
          ...{ asset, decimals },
          recipients: own.map(({ recipient }) => recipient),
          caps: refunds.caps(option),
          approvalAbove: refunds.approvalAbove(option),
          names: nameOption(payment.payments, option),
          confirmations: environment.finalAfter(chain),
          // The short name where no other chain can have it.
          walletName: names.at(chains.length === 1 ? -1 : 0) ?? '',
        },
      };
    });
  }

  /** Those of an open book. */
  of(writer: BookWriter): Refunds {
    const known = this.#of.get(writer);
    if (known !== undefined) return known;
    const refunds = new Refunds({ ...this.#shared, book: new SqlRefundBook(writer) }, this.#options);
    this.#of.set(writer, refunds);
    return refunds;
  }

  /** Advances all refunds that have not ended, until the signal is aborted. @throws DeposedError */
  run(writer: BookWriter, signal: AbortSignal): Promise<void> {
    const chainIds = chainsOf(this.#options).map(({ chainId }) => chainId);
    const refunds = this.of(writer);
    // Those of a chain on which nothing is sold any more wait with those of the first.
    const isOf = (chainId: number) => (refund: Refund) =>
      refund.chainId === chainId || (chainId === chainIds[0] && !chainIds.includes(refund.chainId));
    return runOfEach(chainIds, (chainId, ending) => this.#advanceAll(refunds, isOf(chainId), ending), signal);
  }

  async #advanceAll(refunds: Refunds, isOwn: (refund: Refund) => boolean, signal: AbortSignal): Promise<void> {
    /** What is logged already, of each refund that fails. */
    let failing = new Map<string, string>();
    while (!signal.aborted) {
      const before = failing;
      failing = new Map();
      const attempt = async <T>(what: string, work: () => Promise<T>): Promise<T | null> =>
        work().catch((error: unknown) => {
          if (error instanceof DeposedError) throw error;
          const reason = error instanceof Error ? error.message : String(error);
          if (before.get(what) !== reason) this.#logger.warn({ msg: `${what}: ${reason}`, err: error });
          failing.set(what, reason);
          return null;
        });
      const inWork = await attempt('the refunds wait', () => refunds.listInWork());
      // A refund that cannot continue does not delay the others.
      const own = (inWork ?? []).filter(isOwn);
      await Promise.all(own.map((refund) => attempt(`the refund ${refund.id} waits`, () => refunds.advance(refund))));
      await pause(LOOK_EVERY_MS, signal);
    }
  }
}

/** The first of these names that is an account on the chain. */
async function findWallet(
  directory: WalletDirectory,
  names: readonly string[],
  chainId: number,
): Promise<RefundWallet | null> {
  for (const name of names) {
    const entry = await directory.find(name);
    if (entry?.lane.chainId === chainId) return entry;
  }
  return null;
}
