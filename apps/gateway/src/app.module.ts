import { Inject, Module, type DynamicModule } from '@nestjs/common';
import { APP_FILTER } from '@nestjs/core';
import {
  checkRedis,
  createLoggerParams,
  HealthModule,
  listSecrets,
  MetricsModule,
  observeCounts,
  ProblemFilter,
  type RequestReplyClient,
} from '@tollgate/common';
import type { Redis } from 'ioredis';
import { LoggerModule } from 'nestjs-pino';
import { Registry } from 'prom-client';

import { AgentModule } from './agent/agent.module.js';
import type { GatewayEnvironment } from './config/gateway.config.js';
import { FacilitatorModule } from './facilitator/facilitator.module.js';
import { publishPaywall } from './metrics/publish-paywall.js';
import { PaywallCounters } from './paywall/paywall-counters.js';
import { PaywallConnections, PaywallModule } from './paywall/paywall.module.js';
import type { PaidRoute } from './paywall/route/paid-route.js';

@Module({})
export class AppModule {
  constructor(
    @Inject(Registry) registry: Registry,
    @Inject(PaywallCounters) counters: PaywallCounters,
    @Inject(PaywallConnections) { client }: PaywallConnections,
  ) {
    publishPaywall(registry, counters);
    observeCounts(registry, 'tollgate_verify_questions', 'Questions to verifiers, by event.', client);
  }

  static forRoot(environment: GatewayEnvironment, routes: readonly PaidRoute[]): DynamicModule {
    const paywall = PaywallModule.forRoot(environment, routes);
    const agent = AgentModule.forRoot(environment);
    return {
      module: AppModule,
      imports: [
        LoggerModule.forRoot(
          createLoggerParams({ service: 'gateway', log: environment.log, secrets: listSecrets(environment) }),
        ),
        MetricsModule.forRoot({ service: 'gateway' }),
        HealthModule.forRootAsync({
          imports: [paywall],
          inject: [PaywallConnections],
          useFactory: ({ redis, client, agreement }: PaywallConnections) => ({
            ledger: checkRedis(redis),
            queue: () => checkQueue(client),
            verifier: () => agreement.check(),
          }),
        }),
        paywall,
        agent,
        ...(environment.facilitator.isServed ? [FacilitatorModule.forRoot(environment, [paywall, agent])] : []),
      ],
      providers: [{ provide: APP_FILTER, useClass: ProblemFilter }],
    };
  }
}

async function checkQueue(client: RequestReplyClient): Promise<void> {
  await client.connect();
  const [commands] = client.unwrap<[Redis, Redis]>();
  await checkRedis(commands)();
}
