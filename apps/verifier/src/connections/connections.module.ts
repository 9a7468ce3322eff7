import { Module, type DynamicModule } from '@nestjs/common';
import { ChainReader } from '@tollgate/chain';
import { describeSettings } from '@tollgate/common';
import { Registry } from 'prom-client';

import { VerifierEnvironment } from '../config/verifier.config.js';
import { RelayerTroubles } from '../metrics/relayer-troubles.js';
import { SettlementMetrics, VerifierMetrics } from '../metrics/verifier-metrics.js';
import { AskersSettings } from '../settings/askers-settings.js';
import { TokenDecimals } from '../settings/token-decimals.js';
import { provideFrom, VerifierConnections } from './verifier-connections.js';

/** The settings, connections and counters that both queues are served with. */
@Module({})
export class VerifierConnectionsModule {
  static forRoot(environment: VerifierEnvironment): DynamicModule {
    const { payment, rules, signedPayments, redis } = environment;
    const own = describeSettings({ payment, acceptance: rules, signedPayments, redis });
    const { asset } = payment.signedAsset;
    const decimals = payment.assetDecimals;
    const providers = [
      { provide: VerifierEnvironment, useValue: environment },
      VerifierMetrics,
      SettlementMetrics,
      RelayerTroubles,
      VerifierConnections,
      provideFrom(ChainReader, (_, { chain }) => chain.reader),
      provideFrom(
        TokenDecimals,
        (_, { chain, nowMs }) => new TokenDecimals({ asset, decimals, chain: chain.reader, nowMs }),
      ),
      {
        provide: AskersSettings,
        inject: [Registry],
        useFactory: (registry: Registry) => new AskersSettings({ own, registry }),
      },
    ];
    return { module: VerifierConnectionsModule, global: true, providers, exports: providers };
  }
}
