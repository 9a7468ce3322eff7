import { Inject, Module, Optional, type BeforeApplicationShutdown, type DynamicModule } from '@nestjs/common';
import {
  checkRedis,
  createLoggerParams,
  HealthModule,
  keepFresh,
  MetricsModule,
  type ReadinessChecks,
} from '@tollgate/common';
import { listSecrets } from '@tollgate/config';
import { RequestReplyServer } from '@tollgate/transport';
import { LoggerModule } from 'nestjs-pino';

import type { VerifierEnvironment } from './config/verifier.config.js';
import { VerifierConnectionsModule, VerifierConnections } from './connections/verifier-connections.js';
import { AskersSettings } from './settings/askers-settings.js';
import { TokenComparison } from './settings/token-comparison.js';
import { SettlementModule, SettlementService } from './settlement/settlement.service.js';
import { VerificationModule } from './verification/verification.module.js';

/** A readiness probe asks the chain only if its last answer is older than this. */
const CHAIN_NEWS_MS = 15_000;
const CHAIN_CHECK_MS = 1_500;

@Module({})
export class VerifierModule implements BeforeApplicationShutdown {
  constructor(
    @Inject(RequestReplyServer) private readonly server: RequestReplyServer,
    @Optional() @Inject(SettlementService) private readonly settlement?: SettlementService,
  ) {}

  static forRoot(environment: VerifierEnvironment): DynamicModule {
    const { log, payment, settlement } = environment;
    // Keys are redacted with and without their `0x`.
    const secrets = listSecrets(environment).map((secret) => secret.replace(/^0x/, ''));
    return {
      module: VerifierModule,
      imports: [
        LoggerModule.forRoot(createLoggerParams({ service: 'verifier', log, secrets })),
        MetricsModule.forRoot({ service: 'verifier', chain: String(payment.chainId) }),
        VerifierConnectionsModule.forRoot(environment),
        HealthModule.forRootAsync({
          imports: [VerificationModule],
          inject: [VerifierConnections, TokenComparison, AskersSettings],
          useFactory: createChecks,
        }),
        VerificationModule,
        ...(settlement.signers.length > 0 ? [SettlementModule] : []),
      ],
    };
  }

  /** Both take questions, so both stop at once: neither waits for the other's open questions. */
  async beforeApplicationShutdown(): Promise<void> {
    await Promise.all([this.settlement?.close(), this.server.close()]);
  }
}

function createChecks(
  connections: VerifierConnections,
  tokens: TokenComparison,
  askers: AskersSettings,
): ReadinessChecks {
  const { ledgerRedis, queueRedis, chain, nowMs } = connections;
  return {
    redis: checkRedis(ledgerRedis),
    queue: checkRedis(queueRedis),
    chain: keepFresh(CHAIN_NEWS_MS, async () => void (await chain.reader.readHead(nowMs() + CHAIN_CHECK_MS))),
    ledger: async () => {
      if (!connections.isOpen) throw new Error('the ledger is not open yet');
    },
    asset: async () => tokens.assertReady(),
    // Transactions and permits are taken all the same.
    eip3009: () => Promise.resolve({ misnamed: tokens.misnamed }),
    settings: async () => {
      const { unready } = tokens;
      return { differ: askers.differences, ...(unready.length > 0 && { unready }) };
    },
  };
}
