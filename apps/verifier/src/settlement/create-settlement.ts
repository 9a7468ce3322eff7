import type { ConnectedChain, FeeQuotes } from '@tollgate/chain';
import { REDIS_LOGGER } from '@tollgate/common';
import { Chain, Journal, RELAYER_FLEET } from '@tollgate/journal';
import type { Hex } from '@tollgate/protocol';
import { connectRedis } from '@tollgate/redis';
import {
  type ContractWallets,
  GasMemory,
  InFlightExposure,
  JobWatch,
  readBalance,
  Relayers,
  type SettlementParts,
  SettlementRecords,
  Simulation,
  Strikes,
} from '@tollgate/settlement';
import type { AcceptedAssets, RefundNotes } from '@tollgate/verification';

import type { SettlementMetrics } from '../metrics/settlement-metrics.js';
import type { VerifierEnvironment } from '../verifier.config.js';
import { SettleQueue } from './settle-queue.js';

/** Injection token of the settlement. */
export const SETTLEMENT = Symbol('settlement');

export interface SettlementServices {
  chain: ConnectedChain;
  refunds: RefundNotes;
  assets: AcceptedAssets;
  fees: FeeQuotes;
  wallets: ContractWallets;
  metrics: SettlementMetrics;
  nowMs: () => number;
  onTrouble: (relayer: Hex | null, error: unknown) => void;
}

/** Everything that settles payments, created from settings; absent without a relayer key. */
export interface Settlement {
  parts: SettlementParts;
  relayers: Relayers;
  queue: SettleQueue;
  journal: Journal;
  close(): Promise<void>;
}

/** Ended jobs are looked up for some minutes; this many take about 100 KiB. */
const JOBS_KEPT = 500;
const RPC_TIMEOUT_MS = 5_000;
/** The share of places for questions that payments may hold while they wait for other payments of their payer. */
const HELD_SHARE = 0.125;
/** The share of the shutdown time for what the lanes have begun. */
const SETTLING_SHARE = 0.4;
/**
 * The share before that, for answers to settlement requests; a settlement not finished by then is answered as pending.
 */
const ANSWERING_SHARE = 0.3;

/** Connects the parts of this folder; null without a relayer. Nothing connects before the start. */
export function createSettlement(environment: VerifierEnvironment, services: SettlementServices): Settlement | null {
  const { settlement, redis, payment, chain, rules, shutdown, server, signedPayments } = environment;
  const { refunds, fees, wallets, metrics, nowMs, onTrouble } = services;
  if (settlement.signers.length === 0) return null;
  const connection = connectRedis({ url: redis.redisUrl, role: 'settlements', logger: REDIS_LOGGER });
  const journal = new Journal({ redis: connection, fleet: RELAYER_FLEET, jobsKept: JOBS_KEPT });
  const report = (error: unknown) => onTrouble(null, error);
  const jobs = new JobWatch(journal, report);
  const { batcher, reader } = services.chain;
  const gasCap = BigInt(settlement.settleGasCap);
  const gas = new GasMemory(gasCap);
  const multicall3 = settlement.multicall3Address.toLowerCase() as Hex;
  const simulation = new Simulation({ batcher, multicall3, fees, gas, gasCap, nowMs });
  const closing = new AbortController();
  const parts: SettlementParts = {
    chainId: payment.chainId,
    flights: new Map(),
    exposure: new InFlightExposure({
      readBalance: (asset, payer) => readBalance(batcher, asset, payer, nowMs() + RPC_TIMEOUT_MS),
      nowMs,
      mostHeld: Math.ceil(server.maxInFlight * HELD_SHARE),
    }),
    records: new SettlementRecords(connection),
    strikes: new Strikes(connection),
    journal,
    jobs,
    simulation,
    gas,
    wallets,
    refunds,
    chain: { batcher, reader },
    assets: services.assets,
    factories: signedPayments.factories,
    leastValidityMs: settlement.settleLeastValiditySeconds * 1000,
    waitMs: settlement.settleWaitMs,
    windowMs: Math.max(rules.redemptionWindowSeconds, rules.boundRedemptionWindowSeconds) * 1000,
    nowMs,
    closing: closing.signal,
    onTrouble: report,
  };
  const queue = new SettleQueue({
    redisUrl: redis.queueRedisUrl,
    maxInFlight: server.maxInFlight,
    closeTimeoutMs: shutdown.shutdownTimeoutMs * SETTLING_SHARE,
  });
  const laneChain = new Chain({ chainId: payment.chainId, rpcUrls: chain.rpcUrl, timeoutMs: chain.rpcTimeoutMs });
  const relayers = new Relayers({
    signers: settlement.signers,
    journal,
    chain: laneChain,
    simulation,
    wallets,
    jobs,
    metrics,
    servers: queue,
    settings: settlement.laneSettings(rules.confirmations, shutdown.shutdownTimeoutMs * SETTLING_SHARE),
    batchSize: settlement.settleBatchSize,
    batchWaitMs: settlement.settleBatchWaitMs,
    nowMs,
    onTrouble,
  });
  return {
    parts,
    relayers,
    queue,
    journal,
    close: async () => {
      await relayers.leave(shutdown.shutdownTimeoutMs * ANSWERING_SHARE);
      closing.abort();
      await relayers.stop();
      jobs.close();
      await laneChain.close();
      connection.disconnect();
    },
  };
}
