import {
  AgentEnvironment,
  CryptoEnvironment,
  LogEnvironment,
  RedisEnvironment,
  SettingGroup,
  ShutdownEnvironment,
  WebhookEnvironment,
} from '@tollgate/common';

import type { WorkerWallet } from '../wallets/worker-wallet.js';
import { WorkerChainEnvironment } from './chain.environment.js';
import { LaneEnvironment } from './lane.environment.js';
import { MessageEnvironment } from './message.environment.js';
import { WorkerServerEnvironment } from './server.environment.js';
import { WalletEnvironment } from './wallet.environment.js';

/** The share of the stop timeout for work beside the lanes: messages, webhook posts and dry runs get one each. */
const SMALL_SHARE = 0.08;
/** The share for running lane work; the rest is for releasing lanes and closing connections. */
const SETTLING_SHARE = 0.4;

/** All settings of the agent worker, read at start with `readEnvironment(AgentWorkerEnvironment, process.env)`. */
export class AgentWorkerEnvironment {
  @SettingGroup(WorkerServerEnvironment)
  readonly server!: WorkerServerEnvironment;

  @SettingGroup(WorkerChainEnvironment)
  readonly chain!: WorkerChainEnvironment;

  @SettingGroup(WalletEnvironment)
  readonly wallets!: WalletEnvironment;

  @SettingGroup(LaneEnvironment)
  readonly lanes!: LaneEnvironment;

  @SettingGroup(MessageEnvironment)
  readonly messages!: MessageEnvironment;

  @SettingGroup(WebhookEnvironment)
  readonly webhooks!: WebhookEnvironment;

  @SettingGroup(AgentEnvironment)
  readonly agent!: AgentEnvironment;

  @SettingGroup(RedisEnvironment)
  readonly redis!: RedisEnvironment;

  @SettingGroup(CryptoEnvironment)
  readonly crypto!: CryptoEnvironment;

  @SettingGroup(LogEnvironment)
  readonly log!: LogEnvironment;

  @SettingGroup(ShutdownEnvironment)
  readonly shutdown!: ShutdownEnvironment;

  /** The wallets that this worker signs for. */
  get ownWallets(): readonly WorkerWallet[] {
    return this.wallets.walletsOn(this.chain.chainId);
  }

  get smallStopMs(): number {
    return this.shutdown.shutdownTimeoutMs * SMALL_SHARE;
  }

  get settlingStopMs(): number {
    return this.shutdown.shutdownTimeoutMs * SETTLING_SHARE;
  }
}
