import { BullModule, getQueueToken } from '@nestjs/bullmq';
import { Inject, Module, type DynamicModule, type OnApplicationShutdown } from '@nestjs/common';
import { connectRedis } from '@tollgate/common';
import type { Queue } from 'bullmq';
import type { Redis } from 'ioredis';

export const AGENT_JOBS = 'agent-jobs';
/** The hash tag keeps all keys of the queue in one cluster slot, as BullMQ's scripts need. */
const PREFIX = 'tollgate:{agent}';
const CONNECTION = Symbol('connection of the queues');

/** The queue of agent jobs, on a connection that reconnects for ever and fails commands while it is away. */
@Module({})
export class AgentJobsModule implements OnApplicationShutdown {
  constructor(
    @Inject(getQueueToken(AGENT_JOBS)) private readonly queue: Queue,
    @Inject(CONNECTION) private readonly redis: Redis,
  ) {
    // Without a listener an `error` event ends the process; the connection reports its own state.
    queue.on('error', () => undefined);
  }

  static forRoot(queueRedisUrl: string): DynamicModule {
    const connection = connectRedis({ url: queueRedisUrl, role: AGENT_JOBS });
    return {
      module: AgentJobsModule,
      imports: [
        BullModule.forRoot({ connection, prefix: PREFIX, skipWaitingForReady: true }),
        BullModule.registerQueue({ name: AGENT_JOBS }),
      ],
      providers: [{ provide: CONNECTION, useValue: connection }],
      exports: [BullModule],
    };
  }

  async onApplicationShutdown(): Promise<void> {
    await this.queue.close().catch(() => undefined);
    this.redis.disconnect();
  }
}
