import {
  CryptoEnvironment,
  ExplorerEnvironment,
  LogEnvironment,
  PaymentEnvironment,
  RedisEnvironment,
  RpcEnvironment,
  SettingGroup,
  ShutdownEnvironment,
  TargetEnvironment,
  WebhookEnvironment,
} from '@tollgate/common';

import { BookEnvironment } from './book.environment.js';
import { EventEnvironment } from './event.environment.js';
import { ReconcileEnvironment } from './reconcile.environment.js';
import { RefundEnvironment } from './refund.environment.js';
import { BookkeeperServerEnvironment } from './server.environment.js';

/** All settings of the bookkeeper, read at start with `readEnvironment(BookkeeperEnvironment, process.env)`. */
export class BookkeeperEnvironment {
  @SettingGroup(BookkeeperServerEnvironment)
  readonly server!: BookkeeperServerEnvironment;

  @SettingGroup(BookEnvironment)
  readonly book!: BookEnvironment;

  @SettingGroup(ReconcileEnvironment)
  readonly reconcile!: ReconcileEnvironment;
  @SettingGroup(EventEnvironment)
  readonly events!: EventEnvironment;

  @SettingGroup(WebhookEnvironment)
  readonly webhooks!: WebhookEnvironment;

  @SettingGroup(TargetEnvironment)
  readonly targets!: TargetEnvironment;

  @SettingGroup(RefundEnvironment)
  readonly refunds!: RefundEnvironment;

  /** Of the seller: where money arrives. */
  @SettingGroup(PaymentEnvironment)
  readonly payment!: PaymentEnvironment;

  @SettingGroup(ExplorerEnvironment)
  readonly explorer!: ExplorerEnvironment;

  /** Shows who has paid, and what the wallets hold. */
  @SettingGroup(RpcEnvironment)
  readonly chain!: RpcEnvironment;

  @SettingGroup(RedisEnvironment)
  readonly redis!: RedisEnvironment;

  @SettingGroup(CryptoEnvironment)
  readonly crypto!: CryptoEnvironment;

  @SettingGroup(LogEnvironment)
  readonly log!: LogEnvironment;

  @SettingGroup(ShutdownEnvironment)
  readonly shutdown!: ShutdownEnvironment;
}
