import type { ConnectedChain, FeeQuotes } from '@tollgate/chain';
import { REDIS_LOGGER } from '@tollgate/common';
import { Chain, Journal, RELAYER_FLEET } from '@tollgate/journal';
import type { Ledger } from '@tollgate/ledger';
import type { Hex } from '@tollgate/protocol';
import { connectRedis } from '@tollgate/redis';

import type { SettlementMetrics } from '../metrics/settlement-metrics.js';
import type { AskersSettings } from '../settings/askers-settings.js';
import type { AcceptedAssets } from '../verification/signed/accepted-assets.js';
import type { VerifierEnvironment } from '../verifier.config.js';
import { BurningPayers } from './burning-payers.js';
import type { ContractWallets } from './contract-wallets.js';
import { readBalance } from './explain-unsettled.js';
import { GasMemory } from './gas-memory.js';
import { JobWatch } from './job-watch.js';
import { PayersMeans } from './payers-means.js';
import { PermitSettlements } from './permit-settlements.js';
import { Relayers } from './relayers.js';
import { SettlementRecords } from './settlement-records.js';
import { Settlements } from './settlements.js';
import { Trials } from './trials.js';

export interface SettlementParts {
  chain: ConnectedChain;
  ledger: Pick<Ledger, 'recordRefusal'>;
  assets: AcceptedAssets;
  askers: AskersSettings;
  fees: FeeQuotes;
  wallets: ContractWallets;
  metrics: SettlementMetrics;
  nowMs: () => number;
  onTrouble: (relayer: Hex | null, error: unknown) => void;
}

/** Everything that settles payments, created from settings; absent without a relayer key. */
export interface Settlement {
  relayers: Relayers;
  journal: Journal;
  /** Payments whose settlement is in progress in this process. */
  underWay(): number;
  close(): Promise<void>;
}

/** Ended jobs are looked up for some minutes; this many take about 100 KiB. */
const JOBS_KEPT = 500;
const ANSWERS_WITHIN_MS = 5_000;
/** The share of places for questions that payments may hold while they wait for other payments of their payer. */
const HELD_SHARE = 0.125;
/** The share of the shutdown time for what the lanes have begun. */
const SETTLING_SHARE = 0.4;
/**
 * The share before that, for answers to settlement requests; a settlement not finished by then is answered as pending.
 */
const ANSWERING_SHARE = 0.3;

/** Connects the parts of this folder; null without a relayer. Nothing connects before the start. */
export function createSettlement(environment: VerifierEnvironment, parts: SettlementParts): Settlement | null {
  const { settlement, redis, payment, chain, rules, shutdown, server, signedPayments } = environment;
  const { ledger, fees, wallets, metrics, nowMs, onTrouble } = parts;
  if (settlement.signers.length === 0) return null;
  const connection = connectRedis({ url: redis.redisUrl, role: 'settlements', logger: REDIS_LOGGER });
  const journal = new Journal({ redis: connection, fleet: RELAYER_FLEET, jobsKept: JOBS_KEPT });
  const report = (error: unknown) => onTrouble(null, error);
  const jobs = new JobWatch(journal, report);
  const records = new SettlementRecords(connection);
  const burning = new BurningPayers(connection);
  const shared = {
    chainId: payment.chainId,
    journal,
    jobs,
    records,
    burning,
    waitMs: settlement.settleWaitMs,
    windowMs: Math.max(rules.redemptionWindowSeconds, rules.boundRedemptionWindowSeconds) * 1000,
    nowMs,
    onTrouble: report,
  };
  const settlements = new Settlements({
    ...shared,
    assets: parts.assets,
    factories: signedPayments.factories,
    chain: parts.chain,
    leastValidityMs: settlement.settleLeastValiditySeconds * 1000,
  });
  const { batcher, reader } = parts.chain;
  const means = new PayersMeans({
    readBalance: (asset, payer) => readBalance(batcher, asset, payer, nowMs() + ANSWERS_WITHIN_MS),
    nowMs,
    mostHeld: Math.ceil(server.maxInFlight * HELD_SHARE),
  });
  const permits = new PermitSettlements({ ...shared, reader, means, ledger });
  const laneChain = new Chain({ chainId: payment.chainId, rpcUrls: chain.rpcUrl, timeoutMs: chain.rpcTimeoutMs });
  const gasCap = BigInt(settlement.settleGasCap);
  const gas = new GasMemory(gasCap);
  const multicall3 = settlement.multicall3Address.toLowerCase() as Hex;
  const relayers = new Relayers({
    signers: settlement.signers,
    journal,
    chain: laneChain,
    trials: new Trials({ batcher, multicall3, fees, gas, gasCap, nowMs }),
    gas,
    means,
    burning,
    wallets,
    records,
    jobs,
    settlements,
    permits,
    metrics,
    askers: parts.askers,
    settings: settlement.laneSettings(rules.confirmations, shutdown.shutdownTimeoutMs * SETTLING_SHARE),
    batchSize: settlement.settleBatchSize,
    batchWaitMs: settlement.settleBatchWaitMs,
    queue: {
      redisUrl: redis.queueRedisUrl,
      maxInFlight: server.maxInFlight,
      closeTimeoutMs: shutdown.shutdownTimeoutMs * SETTLING_SHARE,
    },
    nowMs,
    onTrouble,
  });
  return {
    relayers,
    journal,
    underWay: () => settlements.underWay + permits.underWay,
    close: async () => {
      await relayers.leave(shutdown.shutdownTimeoutMs * ANSWERING_SHARE);
      settlements.close();
      permits.close();
      await relayers.stop();
      jobs.close();
      await laneChain.close();
      connection.disconnect();
    },
  };
}
