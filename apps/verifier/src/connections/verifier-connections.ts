import {
  Inject,
  Injectable,
  Logger,
  type FactoryProvider,
  type OnApplicationShutdown,
  type Type,
  Module,
  type DynamicModule,
} from '@nestjs/common';
import {
  ChainReader,
  combineObservers,
  connectChain,
  type ChainObserver,
  type ConnectedChain,
  type EndedBatch,
} from '@tollgate/chain';
import { REDIS_LOGGER } from '@tollgate/common';
import { describeSettings } from '@tollgate/config';
import { Journal, RELAYER_FLEET } from '@tollgate/journal';
import { Ledger } from '@tollgate/ledger';
import { connectRedis, type RedisClient } from '@tollgate/redis';
import { Registry } from 'prom-client';

import { VerifierEnvironment } from '../config/verifier.config.js';
import { OutboxWatch } from '../metrics/outbox-watch.js';
import { RelayerTroubles } from '../metrics/relayer-troubles.js';
import { VerifierMetrics, SettlementMetrics } from '../metrics/verifier-metrics.js';
import { AskersSettings, type OwnSettings } from '../settings/askers-settings.js';

/** The connections to Redis and the chain; closed after the transport, when every question in flight has its verdict. */
@Injectable()
export class VerifierConnections implements OnApplicationShutdown {
  readonly ledgerRedis: RedisClient;
  readonly queueRedis: RedisClient;
  readonly ledger: Ledger;
  readonly chain: ConnectedChain;
  /** Its lines are about money that arrived and bought nothing, and are never sampled. */
  readonly refundLog = new Logger('Refunds');
  /** The ledger is open and questions are taken. */
  isOpen = false;
  readonly #outbox: OutboxWatch | null;

  constructor(
    @Inject(VerifierEnvironment) { redis, rules, chain, payment }: VerifierEnvironment,
    @Inject(VerifierMetrics) metrics: VerifierMetrics,
    @Inject(Registry) registry: Registry,
  ) {
    this.ledgerRedis = connectRedis({ url: redis.redisUrl, role: 'ledger', logger: REDIS_LOGGER });
    this.queueRedis = connectRedis({
      url: redis.queueRedisUrl,
      role: 'verify-queue-length',
      logger: REDIS_LOGGER,
    });
    const { durability, reportsTo: book } = redis;
    const chainIds = [payment.chainId];
    this.ledger = new Ledger({ redis: this.ledgerRedis, chainIds, retentionMs: rules.memoryMs, durability, book });
    this.#outbox = book && this.#watchOutbox(registry, chainIds, book.outboxLimit);
    this.chain = connectChain({
      urls: chain.rpcUrl,
      chainId: payment.chainId,
      timeoutMs: chain.rpcTimeoutMs,
      batchSize: chain.rpcBatchSize,
      batchesInFlight: chain.rpcBatchesInFlight,
      maxResponseBytes: chain.rpcMaxResponseBytes,
      maxReceiptBytes: chain.rpcMaxReceiptBytes,
      logRangeBlocks: chain.rpcLogRangeBlocks,
      observer: combineObservers(metrics, new RpcTroubleLog()),
      nowMs: this.nowMs,
    });
  }

  #watchOutbox(registry: Registry, chainIds: readonly number[], limit: number): OutboxWatch {
    const [ledger, redis] = [this.ledger, this.ledgerRedis];
    const journal = new Journal({ redis, fleet: RELAYER_FLEET });
    return new OutboxWatch({ ledger, redis, chainIds, journal, limit }, registry);
  }

  /** Returns the time of Redis's clock. */
  readonly nowMs = (): number => this.ledger.nowMs();

  async onApplicationShutdown(): Promise<void> {
    this.#outbox?.stop();
    await this.chain.close();
    this.ledgerRedis.disconnect();
    this.queueRedis.disconnect();
  }
}

/** A provider that is made of settings, connections and these others. */
export const provideFrom = <T, Others extends readonly unknown[]>(
  provide: Type<T>,
  useFactory: (environment: VerifierEnvironment, connections: VerifierConnections, ...others: Others) => T,
  ...others: { [Index in keyof Others]: Type<Others[Index]> }
): FactoryProvider<T> => ({ provide, inject: [VerifierEnvironment, VerifierConnections, ...others], useFactory });

/** The settings, connections and counters that both queues are served with. */
@Module({})
export class VerifierConnectionsModule {
  static forRoot(environment: VerifierEnvironment): DynamicModule {
    const { payment, rules, signedPayments, redis } = environment;
    const [first, ...others] = environment.options.map((option): OwnSettings => ({
      option,
      name: environment.nameOption(option).option,
      text: describeSettings({ payment, acceptance: rules, signedPayments, redis }, option),
    }));
    if (first === undefined) throw new TypeError('there is no option');
    const providers = [
      { provide: VerifierEnvironment, useValue: environment },
      VerifierMetrics,
      SettlementMetrics,
      RelayerTroubles,
      VerifierConnections,
      provideFrom(ChainReader, (_, { chain }) => chain.reader),
      {
        provide: AskersSettings,
        inject: [Registry],
        useFactory: (registry: Registry) => new AskersSettings({ own: [first, ...others], registry }),
      },
    ];
    return { module: VerifierConnectionsModule, global: true, providers, exports: providers };
  }
}

/**
 * Logs one line when an RPC server starts to fail and one when it answers again, so that an outage does not write
 * thousands of lines.
 */
class RpcTroubleLog implements ChainObserver {
  readonly #logger = new Logger('Chain');
  readonly #failing = new Set<string>();

  batchEnded({ host, trouble }: EndedBatch): void {
    if (trouble === 'none') {
      if (this.#failing.delete(host)) this.#logger.log(`the RPC server ${host} answers again`);
    } else if (!this.#failing.has(host)) {
      this.#failing.add(host);
      this.#logger.warn(`the RPC server ${host} fails: ${trouble}`);
    }
  }

  queueChanged(): void {
    // Not logged.
  }
}
