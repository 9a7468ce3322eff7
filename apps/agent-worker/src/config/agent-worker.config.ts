import {
  AgentEnvironment,
  CryptoEnvironment,
  IsIntIn,
  LogEnvironment,
  OwnChainEnvironment,
  PaymentsFileEnvironment,
  RedisEnvironment,
  RpcEnvironment,
  Setting,
  SettingGroup,
  ShutdownEnvironment,
} from '@tollgate/config';
import { WebhookEnvironment } from '@tollgate/webhooks';
import { IsNotEmpty } from 'class-validator';

import type { WorkerWallet } from '../wallets/worker-wallet.js';
import { LaneEnvironment } from './lane.environment.js';
import { WalletEnvironment } from './wallet.environment.js';

/** Jobs that other services put directly into the queue. */
class MessageEnvironment {
  @Setting({
    help: 'Seconds after issuedAt for which an enqueued job is accepted.',
  })
  // Idempotency keys are remembered for a week; an older copy of a message could be taken for a new one.
  @IsIntIn(1, 518_400)
  readonly messageMaxAgeSeconds: number = 3_600;
}

class WorkerServerEnvironment {
  @Setting({ help: 'Port of /health and /metrics; 0 picks a free one.' })
  @IsIntIn(0, 65_535)
  readonly agentWorkerPort: number = 4022;

  @Setting({ help: 'Address of /health and /metrics; 0.0.0.0 for every interface.' })
  @IsNotEmpty()
  readonly agentWorkerHost: string = '127.0.0.1';
}

/** The chain on which the wallets' jobs are carried out. */
class WorkerChainEnvironment extends RpcEnvironment {
  @Setting({ help: 'Chain id; compared at start with that of the RPC servers.' })
  @IsIntIn(1)
  readonly chainId: number = 1328;

  @Setting({
    help: 'JSON-RPC calls in one request. A server that takes fewer, or no batches, is noticed.',
  })
  @IsIntIn(1, 1_000)
  readonly rpcCallsPerRequest: number = 100;
}

/** The share of the stop timeout for work beside the lanes: messages, webhook posts and dry runs get one each. */
const SMALL_SHARE = 0.08;
/** The share for running lane work; the rest is for releasing lanes and closing connections. */
const SETTLING_SHARE = 0.4;

/** All settings of the agent worker, read at start with `readEnvironment(AgentWorkerEnvironment, process.env)`. */
export class AgentWorkerEnvironment {
  @SettingGroup(WorkerServerEnvironment) readonly server!: WorkerServerEnvironment;
  @SettingGroup(PaymentsFileEnvironment) readonly payments!: PaymentsFileEnvironment;
  @SettingGroup(OwnChainEnvironment) readonly own!: OwnChainEnvironment;
  @SettingGroup(WorkerChainEnvironment) readonly chain!: WorkerChainEnvironment;
  @SettingGroup(WalletEnvironment) readonly wallets!: WalletEnvironment;
  @SettingGroup(LaneEnvironment) readonly lanes!: LaneEnvironment;
  @SettingGroup(MessageEnvironment) readonly messages!: MessageEnvironment;
  @SettingGroup(WebhookEnvironment) readonly webhooks!: WebhookEnvironment;
  @SettingGroup(AgentEnvironment) readonly agent!: AgentEnvironment;
  @SettingGroup(RedisEnvironment) readonly redis!: RedisEnvironment;
  @SettingGroup(CryptoEnvironment) readonly crypto!: CryptoEnvironment;
  @SettingGroup(LogEnvironment) readonly log!: LogEnvironment;
  @SettingGroup(ShutdownEnvironment) readonly shutdown!: ShutdownEnvironment;

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
