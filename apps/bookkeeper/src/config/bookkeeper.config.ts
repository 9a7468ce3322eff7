import type { AcceptedToken } from '@tollgate/book';
import {
  chainsOf,
  CryptoEnvironment,
  ExplorerEnvironment,
  IsIntIn,
  listOptionsInLowerCase,
  LogEnvironment,
  PaymentEnvironment,
  ProxyEnvironment,
  RedisEnvironment,
  RpcEnvironment,
  Setting,
  SettingGroup,
  ShutdownEnvironment,
  TargetEnvironment,
  type ChecksTogether,
  type PaymentChain,
  type PaymentOption,
} from '@tollgate/config';
import { PaymentError } from '@tollgate/protocol';
import { WebhookEnvironment } from '@tollgate/webhooks';
import { IsNotEmpty, Matches } from 'class-validator';

import { BookEnvironment } from './book.environment.js';
import { ReconcileEnvironment } from './reconcile.environment.js';
import { RefundEnvironment } from './refund.environment.js';

/** The events of payments for other programs. */
class EventEnvironment {
  @Setting({
    help: 'Events of payments kept for streams that resume, 1 KB each in the database.',
  })
  @IsIntIn(1_000, 100_000_000)
  readonly bookEventsKept: number = 1_000_000;

  @Setting({ help: 'Streams of payment events that one API key may have open at one bookkeeper.' })
  @IsIntIn(1, 10_000)
  readonly operatorStreamsPerKey: number = 10;

  @Setting({ help: 'Streams of payment events that may be open at one bookkeeper.' })
  @IsIntIn(1, 10_000)
  readonly operatorStreams: number = 50;
}

class BookkeeperServerEnvironment {
  @Setting({ help: 'Port of the operator API, /health and /metrics; 0 picks a free one.' })
  @IsIntIn(0, 65_535)
  readonly bookkeeperPort: number = 4023;

  @Setting({
    help: 'Address of the operator API, /health and /metrics. Keep it off the public internet.',
  })
  @IsNotEmpty()
  readonly bookkeeperHost: string = '127.0.0.1';

  @Setting({
    help: 'Host names, besides loopback, by which browsers reach /console, comma separated: those of your HTTPS proxy.',
    as: 'list',
    example: 'console.example',
  })
  @Matches(/^([a-z0-9-]+(\.[a-z0-9-]+)*|\[[0-9a-f:.]+\])$/i, {
    each: true,
    message: 'every entry of $property must be a host name without a port',
  })
  readonly consoleHosts: string[] = [];

  @SettingGroup(ProxyEnvironment) readonly proxies!: ProxyEnvironment;

  @Setting({ help: 'Requests to /operator per minute and API key; 0: no limit.' })
  @IsIntIn(0)
  readonly operatorRateLimitPerMinute: number = 600;

  @Setting({ help: 'Invalid API keys per minute and client address; 0: no limit.' })
  @IsIntIn(0)
  readonly operatorRefusedKeysPerMinute: number = 20;

  @Setting({
    help: 'Writes of one API key to /operator in a day, UTC; 0: no limit.',
  })
  @IsIntIn(0)
  readonly operatorWritesPerDay: number = 1_000;
}

/** All settings of the bookkeeper, read at start with `readEnvironment(BookkeeperEnvironment, process.env)`. */
export class BookkeeperEnvironment implements ChecksTogether {
  @SettingGroup(BookkeeperServerEnvironment) readonly server!: BookkeeperServerEnvironment;
  @SettingGroup(BookEnvironment) readonly book!: BookEnvironment;
  @SettingGroup(ReconcileEnvironment) readonly reconcile!: ReconcileEnvironment;
  @SettingGroup(EventEnvironment) readonly events!: EventEnvironment;
  @SettingGroup(WebhookEnvironment) readonly webhooks!: WebhookEnvironment;
  @SettingGroup(TargetEnvironment) readonly targets!: TargetEnvironment;
  @SettingGroup(RefundEnvironment) readonly refunds!: RefundEnvironment;
  /** The seller's terms: where money arrives. See `options`. */
  @SettingGroup(PaymentEnvironment) readonly payment!: PaymentEnvironment;
  @SettingGroup(ExplorerEnvironment) readonly explorer!: ExplorerEnvironment;
  /** Shows who has paid, and what the wallets hold. */
  @SettingGroup(RpcEnvironment) readonly chain!: RpcEnvironment;
  @SettingGroup(RedisEnvironment) readonly redis!: RedisEnvironment;
  @SettingGroup(CryptoEnvironment) readonly crypto!: CryptoEnvironment;
  @SettingGroup(LogEnvironment) readonly log!: LogEnvironment;
  @SettingGroup(ShutdownEnvironment) readonly shutdown!: ShutdownEnvironment;

  #options: readonly PaymentOption[] | null = null;

  /** What the seller accepts, the preferred option first; addresses in lower case, as in the book. */
  get options(): readonly PaymentOption[] {
    return (this.#options ??= this.#listOptions());
  }

  /** An option of each token: one that is paid to several accounts is there once. */
  get tokens(): readonly PaymentOption[] {
    const isSame = (one: PaymentOption) => (other: PaymentOption) =>
      other.chain === one.chain && other.asset === one.asset;
    return this.options.filter((one, index, all) => all.findIndex(isSame(one)) === index);
  }

  /** In the order of their first options. */
  get chains(): readonly PaymentChain[] {
    return chainsOf(this.options);
  }

  /** What is compared with the chains, and what the book takes an event to mean that does not say it. */
  get scopes(): readonly AcceptedToken[] {
    return this.options.map(({ chain, asset, payTo: recipient }) => ({ chainId: chain.id, asset, recipient }));
  }

  /** Blocks, with its own, after which a transaction is final for the book. */
  finalAfter({ reconcileConfirmations }: PaymentChain): number {
    return reconcileConfirmations ?? this.reconcile.reconcileConfirmations;
  }

  #listOptions(): readonly PaymentOption[] {
    const { payment, explorer, chain: rpc, reconcile } = this;
    // The book waits for other confirmations than a sale.
    const acceptance = { confirmations: reconcile.reconcileConfirmations };
    return listOptionsInLowerCase({ payment, explorer, rpc, reconcile, acceptance });
  }

  problemsTogether(): string[] {
    return [...this.#findRefundProblems(), ...this.#findUnclaimedProblems()];
  }

  #findRefundProblems(): string[] {
    return this.tokens.flatMap((option) => {
      try {
        this.refunds.caps(option);
        this.refunds.approvalAbove(option);
        return [];
      } catch (error) {
        if (!(error instanceof PaymentError)) throw error;
        return [`A limit of refunds (REFUND_…) in ${option.name}: ${error.message} Write none for any amount.`];
      }
    });
  }

  #findUnclaimedProblems(): string[] {
    if (this.reconcile.bookLeastUnclaimed === undefined || this.options.length === 1) return [];
    const instead = "a tenth of each token's cheapest price counts";
    return [`BOOK_LEAST_UNCLAIMED is base units of one token, and PAYMENTS_FILE has several: remove it; ${instead}.`];
  }
}
