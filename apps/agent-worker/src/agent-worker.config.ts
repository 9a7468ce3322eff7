import {
  AgentEnvironment,
  LogEnvironment,
  RedisEnvironment,
  SettingGroup,
  ShutdownEnvironment,
} from '@tollgate/common';

import { WorkerChainEnvironment } from './config/chain.environment.js';
import { LaneEnvironment } from './config/lane.environment.js';
import { MessageEnvironment } from './config/message.environment.js';
import { WorkerServerEnvironment } from './config/server.environment.js';
import { WalletEnvironment } from './config/wallet.environment.js';
import { WebhookEnvironment } from './webhooks/webhook.environment.js';

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

  @SettingGroup(LogEnvironment)
  readonly log!: LogEnvironment;

  @SettingGroup(ShutdownEnvironment)
  readonly shutdown!: ShutdownEnvironment;
}
