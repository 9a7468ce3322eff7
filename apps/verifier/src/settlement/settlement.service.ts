import { Inject, Injectable, Module } from '@nestjs/common';
import { FeeQuotes, RPC_TIMEOUT_MS } from '@tollgate/chain';
import { REDIS_LOGGER } from '@tollgate/common';
import { ConfigurationError } from '@tollgate/config';
import { Chain, Journal, RELAYER_FLEET } from '@tollgate/journal';
import { lowerHex } from '@tollgate/protocol';
import { connectRedis, type RedisClient } from '@tollgate/redis';
import {
  ContractWallets,
  GasMemory,
  InFlightExposure,
  JobWatch,
  Relayers,
  type SettlementParts,
  SettlementRecords,
  Simulation,
  Strikes,
} from '@tollgate/settlement';
import { AcceptedAssets, Deployments, SellerTerms } from '@tollgate/verification';
import { Registry } from 'prom-client';

import { VerifierEnvironment } from '../config/verifier.config.js';
import { VerifierConnections } from '../connections/verifier-connections.js';
import { observeRelayers } from '../metrics/observe-relayers.js';
import { RelayerTroubles } from '../metrics/relayer-troubles.js';
import { SettlementMetrics } from '../metrics/verifier-metrics.js';
import { VerificationModule } from '../verification/verification.module.js';
import { SettleQueue, SETTLEMENT_PARTS, SettlementController } from './settlement.controller.js';

/** Ended jobs are looked up for some minutes; this many take about 100 KiB. */
const JOBS_KEPT = 500;
/** The share of places for questions that payments may hold while they wait for other payments of their payer. */
const HELD_SHARE = 0.125;
/** The share of the shutdown time for what the lanes have begun. */
const SETTLING_SHARE = 0.4;
/**
 * The share before that, for answers to settlement requests; a settlement not finished by then is answered as pending.
 */
const ANSWERING_SHARE = 0.3;

/** Everything that settles payments with this process's relayers. Nothing is connected or taken before `open`. */
@Injectable()
export class SettlementService {
  readonly parts: SettlementParts;
  readonly relayers: Relayers;
  readonly queue: SettleQueue;
  readonly journal: Journal;
  readonly #redis: RedisClient;
  readonly #laneChain: Chain;
  readonly #closing = new AbortController();
  readonly #answerWithinMs: number;

  constructor(
    @Inject(VerifierEnvironment) environment: VerifierEnvironment,
    @Inject(VerifierConnections) { chain: { batcher, reader }, ledger, refundLog, nowMs }: VerifierConnections,
    @Inject(SellerTerms) terms: SellerTerms,
    @Inject(AcceptedAssets) assets: AcceptedAssets,
    @Inject(FeeQuotes) fees: FeeQuotes,
    @Inject(Deployments) deployments: Deployments,
    @Inject(ContractWallets) wallets: ContractWallets,
    @Inject(SettlementMetrics) metrics: SettlementMetrics,
    @Inject(RelayerTroubles) troubles: RelayerTroubles,
  ) {
    const { settlement, redis, payment, chain, rules, shutdown, server } = environment;
    this.#answerWithinMs = shutdown.shutdownTimeoutMs * ANSWERING_SHARE;
    this.#redis = connectRedis({ url: redis.redisUrl, role: 'settlements', logger: REDIS_LOGGER });
    this.#laneChain = new Chain({ chainId: payment.chainId, rpcUrls: chain.rpcUrl, timeoutMs: chain.rpcTimeoutMs });
    const { durability, bookLimit } = redis;
    const journal = new Journal({
      redis: this.#redis,
      fleet: RELAYER_FLEET,
      jobsKept: JOBS_KEPT,
      durability,
      bookLimit,
    });
    this.journal = journal;
    const onTrouble = (error: unknown) => troubles.report(null, error);
    const jobs = new JobWatch(journal, onTrouble);
    const gasCap = BigInt(settlement.settleGasCap);
    const gas = new GasMemory(gasCap);
    const multicall3 = lowerHex(settlement.multicall3Address);
    const simulation = new Simulation({
      gasCaps: { calls: gasCap, deployments: BigInt(deployments.gasCap) },
      batcher,
      chainId: payment.chainId,
      multicall3,
      fees,
      gas,
      nowMs,
    });
    this.parts = {
      chainId: payment.chainId,
      flights: new Map(),
      exposure: new InFlightExposure({
        readBalance: (asset, payer) => reader.readBalance(asset, payer, nowMs() + RPC_TIMEOUT_MS),
        nowMs,
        mostHeld: Math.ceil(server.maxInFlight * HELD_SHARE),
      }),
      records: new SettlementRecords(this.#redis),
      strikes: new Strikes(this.#redis, payment.chainId),
      refunds: { terms, ledger, refundLog },
      chain: { batcher, reader },
      leastValidityMs: settlement.settleLeastValiditySeconds * 1000,
      waitMs: settlement.settleWaitMs,
      windowMs: rules.memoryMs,
      closing: this.#closing.signal,
      journal,
      jobs,
      simulation,
      gas,
      wallets,
      deployments,
      assets,
      nowMs,
      onTrouble,
    };
    const settleWithinMs = shutdown.shutdownTimeoutMs * SETTLING_SHARE;
    this.queue = new SettleQueue({
      chainId: payment.chainId,
      redisUrl: redis.queueRedisUrl,
      maxInFlight: server.maxInFlight,
      closeTimeoutMs: settleWithinMs,
    });
    this.relayers = new Relayers({
      signers: settlement.signers,
      chain: this.#laneChain,
      servers: this.queue,
      settings: settlement.laneSettings(rules.confirmations, settleWithinMs),
      batchSize: settlement.settleBatchSize,
      batchWaitMs: settlement.settleBatchWaitMs,
      isBooked: redis.book === 'on',
      onTrouble: (relayer, error) => troubles.report(relayer, error),
      journal,
      simulation,
      wallets,
      jobs,
      metrics,
      nowMs,
    });
  }

  /**
   * Rejects relayers that are also wallets of agent jobs: each nonce of such an account would be used twice.
   * @throws ConfigurationError for such relayers, StoreError
   */
  async open(): Promise<void> {
    await this.journal.open();
    const foreign = await this.journal.findForeign(this.relayers.lanes);
    if (foreign.length === 0) return;
    throw new ConfigurationError(
      foreign.map(
        ({ address }) =>
          `RELAYER_PRIVATE_KEYS: ${address} is a wallet of agent jobs. Use an account that serves no other purpose.`,
      ),
    );
  }

  async close(): Promise<void> {
    await this.relayers.leave(this.#answerWithinMs);
    this.#closing.abort();
    await this.relayers.stop();
    this.parts.jobs.close();
    await this.#laneChain.close();
    this.#redis.disconnect();
  }
}

/** Settles signed payments, where this process has a relayer's key. */
@Module({
  imports: [VerificationModule],
  controllers: [SettlementController],
  providers: [
    SettlementService,
    { provide: SETTLEMENT_PARTS, inject: [SettlementService], useFactory: ({ parts }: SettlementService) => parts },
  ],
  exports: [SettlementService],
})
export class SettlementModule {
  constructor(
    @Inject(Registry) registry: Registry,
    @Inject(SettlementService) settlement: SettlementService,
    @Inject(VerifierConnections) { chain: { batcher }, nowMs }: VerifierConnections,
  ) {
    observeRelayers(registry, settlement, { chainId: settlement.parts.chainId, batcher, nowMs });
  }
}
