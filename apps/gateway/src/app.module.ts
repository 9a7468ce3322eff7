import { Inject, Module, type DynamicModule } from '@nestjs/common';
import { APP_FILTER } from '@nestjs/core';
import { checkRedis, createLoggerParams, HealthModule, MetricsModule, observeCounts } from '@tollgate/common';
import { listSecrets } from '@tollgate/config';
import { ProblemFilter } from '@tollgate/http';
import type { RedisClient } from '@tollgate/redis';
import { type RequestReplyClient } from '@tollgate/transport';
import { LoggerModule } from 'nestjs-pino';
import { Registry } from 'prom-client';

import { AgentModule } from './agent/agent.module.js';
import { GatewayEnvironment } from './config/gateway.config.js';
import { FacilitatorModule } from './facilitator/facilitator.module.js';
import { publishPaywall, PaywallCounters } from './paywall/paywall-counters.js';
import { PaywallConnections, PaywallModule } from './paywall/paywall.module.js';
import { PAID_ROUTES, type PaidRoute } from './paywall/route/paid-route.js';

@Module({})
export class AppModule {
  constructor(
    @Inject(Registry) registry: Registry,
    @Inject(PaywallCounters) counters: PaywallCounters,
    @Inject(PaywallConnections) { options }: PaywallConnections,
  ) {
    publishPaywall(registry, counters);
    observeQuestions(registry, options.clients);
  }

  /** Gives settings and routes to the modules; Nest builds everything else. */
  static forRoot(environment: GatewayEnvironment, routes: readonly PaidRoute[]): DynamicModule {
    return {
      module: AppModule,
      global: true,
      imports: [
        LoggerModule.forRoot(
          createLoggerParams({ service: 'gateway', log: environment.log, secrets: listSecrets(environment) }),
        ),
        MetricsModule.forRoot({ service: 'gateway' }),
        HealthModule.forRootAsync({
          imports: [PaywallModule],
          inject: [PaywallConnections],
          useFactory: ({ redis, options }: PaywallConnections) => ({
            ledger: checkRedis(redis),
            queue: () => checkQueues(options.clients),
            verifier: () => options.check(),
          }),
        }),
        PaywallModule,
        AgentModule,
        ...(environment.facilitator.isServed ? [FacilitatorModule] : []),
      ],
      providers: [
        { provide: GatewayEnvironment, useValue: environment },
        { provide: PAID_ROUTES, useValue: routes },
        { provide: APP_FILTER, useClass: ProblemFilter },
      ],
      exports: [GatewayEnvironment, PAID_ROUTES],
    };
  }
}

function observeQuestions(registry: Registry, clients: ReadonlyMap<number, RequestReplyClient>): void {
  const help = 'Questions to verifiers, by the id of the chain and by event.';
  const read = () => Object.fromEntries([...clients].map(([chainId, { counts }]) => [chainId, { ...counts }]));
  observeCounts(registry, 'tollgate_verify_questions', help, read, ['chain', 'event']);
}

/** The queues of all chains are in one Redis. */
async function checkQueues(clients: ReadonlyMap<number, RequestReplyClient>): Promise<void> {
  for (const client of clients.values()) {
    await client.connect();
    const [commands] = client.unwrap<[RedisClient, RedisClient]>();
    await checkRedis(commands)();
  }
}
