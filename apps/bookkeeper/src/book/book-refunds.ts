import { Inject, Injectable, Logger } from '@nestjs/common';
import { DeposedError, SqlRefundBook, type BookWriter } from '@tollgate/book';
import { pause } from '@tollgate/journal';
import { Ledger, readBookedSinceMs } from '@tollgate/ledger';
import { lowerHex } from '@tollgate/protocol';
import { Refunds, REFUNDS_WALLET, type RefundPorts } from '@tollgate/refunds';

import { SellerChain } from '../chain/seller-chain.js';
import { BookkeeperEnvironment } from '../config/bookkeeper.config.js';
import { BookkeeperConnections } from '../drain/connections.js';
import { OutboxDrain } from '../drain/outbox-drain.js';
import { Journals } from '../journals/journals.js';

const LOOK_EVERY_MS = 1_000;

/** Gives refunds their ports, and brings them to their end while the book is ours. */
@Injectable()
export class BookRefunds {
  readonly #logger = new Logger('Refunds');
  readonly #ports: Omit<RefundPorts, 'book'>;
  readonly #of = new WeakMap<BookWriter, Refunds>();

  constructor(
    @Inject(BookkeeperConnections) { commands: redis }: BookkeeperConnections,
    @Inject(BookkeeperEnvironment) environment: BookkeeperEnvironment,
    @Inject(SellerChain) chain: SellerChain,
    @Inject(OutboxDrain) outbox: OutboxDrain,
    @Inject(Journals) { journal, directory }: Journals,
  ) {
    const { redis: settings, payment, refunds, reconcile } = environment;
    const { durability, bookOutboxLimit: outboxLimit } = settings;
    const decimals = payment.assetDecimals;
    const chainIds = [payment.chainId];
    this.#ports = {
      chain,
      outbox,
      journal,
      ledger: new Ledger({ redis, chainIds, durability, book: { outboxLimit } }),
      readBookedSinceMs: () => readBookedSinceMs(redis, chainIds),
      findWallet: async () => (await directory.find(REFUNDS_WALLET))?.lane ?? null,
      settings: {
        asset: lowerHex(payment.assetAddress),
        payTo: payment.payTo.toLowerCase(),
        decimals,
        caps: refunds.caps(decimals),
        approvalAbove: refunds.approvalAbove(decimals),
        confirmations: reconcile.reconcileConfirmations,
      },
    };
  }

  /** Those of an open book. */
  of(writer: BookWriter): Refunds {
    const known = this.#of.get(writer);
    if (known !== undefined) return known;
    const refunds = new Refunds({ ...this.#ports, book: new SqlRefundBook(writer) });
    this.#of.set(writer, refunds);
    return refunds;
  }

  /** Advances all refunds that have not ended, until the signal is aborted. @throws DeposedError */
  async run(writer: BookWriter, signal: AbortSignal): Promise<void> {
    const refunds = this.of(writer);
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
      await Promise.all(
        (inWork ?? []).map((refund) => attempt(`the refund ${refund.id} waits`, () => refunds.advance(refund))),
      );
      await pause(LOOK_EVERY_MS, signal);
    }
  }
}
