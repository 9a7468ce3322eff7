import { Module, type DynamicModule, type FactoryProvider } from '@nestjs/common';
import { ChainReader } from '@tollgate/chain';
import { describeSettings } from '@tollgate/common';
import { Ledger } from '@tollgate/ledger';
import { Registry } from 'prom-client';

import { SettlementMetrics } from '../metrics/settlement-metrics.js';
import { VerifierMetrics } from '../metrics/verifier-metrics.js';
import { AskersSettings } from '../settings/askers-settings.js';
import { TokenDecimals } from '../settings/token-decimals.js';
import { RelayerTroubles } from '../settlement/relayer-troubles.js';
import { VerifierEnvironment } from '../verifier.config.js';
import { VerifierConnections } from './verifier-connections.js';

const FROM_CONNECTIONS: FactoryProvider[] = [
  { provide: Ledger, inject: [VerifierConnections], useFactory: ({ ledger }: VerifierConnections) => ledger },
  { provide: ChainReader, inject: [VerifierConnections], useFactory: ({ chain }: VerifierConnections) => chain.reader },
  {
    provide: TokenDecimals,
    inject: [VerifierEnvironment, VerifierConnections],
    useFactory: ({ payment }: VerifierEnvironment, { chain, nowMs }: VerifierConnections) =>
      new TokenDecimals({
        asset: payment.signedAsset.asset,
        decimals: payment.assetDecimals,
        chain: chain.reader,
        nowMs,
      }),
  },
];

/** The settings, connections and counters that both queues are served with. */
@Module({})
export class ConnectionsModule {
  static forRoot(environment: VerifierEnvironment): DynamicModule {
    const { payment, rules, signedPayments } = environment;
    const providers = [
      { provide: VerifierEnvironment, useValue: environment },
      VerifierMetrics,
      SettlementMetrics,
      RelayerTroubles,
      VerifierConnections,
      ...FROM_CONNECTIONS,
      {
        provide: AskersSettings,
        inject: [Registry],
        useFactory: (registry: Registry) =>
          new AskersSettings({ own: describeSettings({ payment, acceptance: rules, signedPayments }), registry }),
      },
    ];
    return { module: ConnectionsModule, global: true, providers, exports: providers };
  }
}
