import {
  CryptoEnvironment,
  ExplorerEnvironment,
  IsIntIn,
  LogEnvironment,
  PaymentEnvironment,
  ProxyEnvironment,
  RedisEnvironment,
  RpcEnvironment,
  Setting,
  SettingGroup,
  ShutdownEnvironment,
  TargetEnvironment,
} from '@tollgate/config';
import { WebhookEnvironment } from '@tollgate/webhooks';
import { IsNotEmpty, Matches } from 'class-validator';

import { BookEnvironment } from './book.environment.js';
import { ReconcileEnvironment } from './reconcile.environment.js';
import { RefundEnvironment } from './refund.environment.js';

/** The events of payments for other programs. */
class EventEnvironment {
  @Setting({
    help: 'Events of payments that are kept for streams that resume, about 1 KB each in the database; above this number the oldest are removed.',
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
  @Setting({ help: 'Port for the operator API, health and metrics of the bookkeeper; 0 picks a free one.' })
  @IsIntIn(0, 65_535)
  readonly bookkeeperPort: number = 4023;

  @Setting({
    help: 'Address on which the operator API, health and metrics of the bookkeeper listen; 0.0.0.0 for every interface. Keep it off the public internet.',
  })
  @IsNotEmpty()
  readonly bookkeeperHost: string = '127.0.0.1';

  @Setting({
    help: 'Host names, besides those of loopback, by which browsers reach the console at /console, comma separated: those of the proxy with HTTPS in front of it.',
    as: 'list',
    example: 'console.example',
  })
  @Matches(/^([a-z0-9-]+(\.[a-z0-9-]+)*|\[[0-9a-f:.]+\])$/i, {
    each: true,
    message: 'every entry of $property must be a host name without a port',
  })
  readonly consoleHosts: string[] = [];

  @SettingGroup(ProxyEnvironment) readonly proxies!: ProxyEnvironment;

  @Setting({ help: 'Requests to /operator per minute and API key; 0 means no limit.' })
  @IsIntIn(0)
  readonly operatorRateLimitPerMinute: number = 600;

  @Setting({ help: 'Invalid API keys per minute and client address at the operator API; 0 means no limit.' })
  @IsIntIn(0)
  readonly operatorRefusedKeysPerMinute: number = 20;

  @Setting({
    help: 'Writes of one API key to /operator in a day, UTC: approvals, refunds, pauses and so on; 0 means no limit.',
  })
  @IsIntIn(0)
  readonly operatorWritesPerDay: number = 1_000;
}

/** All settings of the bookkeeper, read at start with `readEnvironment(BookkeeperEnvironment, process.env)`. */
export class BookkeeperEnvironment {
  @SettingGroup(BookkeeperServerEnvironment) readonly server!: BookkeeperServerEnvironment;
  @SettingGroup(BookEnvironment) readonly book!: BookEnvironment;
  @SettingGroup(ReconcileEnvironment) readonly reconcile!: ReconcileEnvironment;
  @SettingGroup(EventEnvironment) readonly events!: EventEnvironment;
  @SettingGroup(WebhookEnvironment) readonly webhooks!: WebhookEnvironment;
  @SettingGroup(TargetEnvironment) readonly targets!: TargetEnvironment;
  @SettingGroup(RefundEnvironment) readonly refunds!: RefundEnvironment;
  /** The seller's terms: where money arrives. */
  @SettingGroup(PaymentEnvironment) readonly payment!: PaymentEnvironment;
  @SettingGroup(ExplorerEnvironment) readonly explorer!: ExplorerEnvironment;
  /** Shows who has paid, and what the wallets hold. */
  @SettingGroup(RpcEnvironment) readonly chain!: RpcEnvironment;
  @SettingGroup(RedisEnvironment) readonly redis!: RedisEnvironment;
  @SettingGroup(CryptoEnvironment) readonly crypto!: CryptoEnvironment;
  @SettingGroup(LogEnvironment) readonly log!: LogEnvironment;
  @SettingGroup(ShutdownEnvironment) readonly shutdown!: ShutdownEnvironment;
}
