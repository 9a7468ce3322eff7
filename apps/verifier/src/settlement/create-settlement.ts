import { connectRedis, RELAYER_FLEET } from '@tollgate/common';
import type { Hex } from '@tollgate/protocol';
import { Chain, Journal } from '@tollgate/transactions';

import type { ConnectedChain } from '../chain/connect-chain.js';
import type { AcceptedAssets } from '../verification/signed/accepted-assets.js';
import type { VerifierEnvironment } from '../verifier.config.js';
import { GasMemory } from './gas-memory.js';
import { JobWatch } from './job-watch.js';
import { PermitSettlements } from './permit-settlements.js';
import { Relayers } from './relayers.js';
import { SettlementRecords } from './settlement-records.js';
import { Settlements } from './settlements.js';
import { Trials } from './trials.js';

export interface SettlementParts {
  chain: ConnectedChain;
  assets: AcceptedAssets;
  nowMs: () => number;
  onTrouble: (relayer: Hex | null, error: unknown) => void;
}

/** Everything that settles, from its settings; none of it without a relayer's key. */
export interface Settlement {
  relayers: Relayers;
  journal: Journal;
  close(): Promise<void>;
}

/** Ended jobs are looked up for minutes, and hold some 100 KiB each. */
const JOBS_KEPT = 500;
/** Of the time that the process has to stop, for what the lanes have begun. */
const SETTLING_SHARE = 0.4;

/** Puts the parts of this folder together; null without a relayer. Nothing is connected before it is started. */
export function createSettlement(environment: VerifierEnvironment, parts: SettlementParts): Settlement | null {
  const { settlement, redis, payment, chain, rules, shutdown, server, signedPayments } = environment;
  const { nowMs, onTrouble } = parts;
  if (settlement.signers.length === 0) return null;
  const connection = connectRedis({ url: redis.redisUrl, role: 'settlements' });
  const journal = new Journal({ redis: connection, fleet: RELAYER_FLEET, jobsKept: JOBS_KEPT });
  const report = (error: unknown) => onTrouble(null, error);
  const jobs = new JobWatch(journal, report);
  const records = new SettlementRecords(connection);
  const shared = {
    chainId: payment.chainId,
    journal,
    jobs,
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
  const permits = new PermitSettlements({ ...shared, records, reader: parts.chain.reader });
  const laneChain = new Chain({ chainId: payment.chainId, rpcUrls: chain.rpcUrl, timeoutMs: chain.rpcTimeoutMs });
  const gasCap = BigInt(settlement.settleGasCap);
  const gas = new GasMemory(gasCap);
  const multicall3 = settlement.multicall3Address.toLowerCase() as Hex;
  const { batcher } = parts.chain;
  const relayers = new Relayers({
    signers: settlement.signers,
    journal,
    chain: laneChain,
    trials: new Trials({ batcher, multicall3, gas, gasCap, nowMs }),
    gas,
    records,
    jobs,
    settlements,
    permits,
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
    close: async () => {
      settlements.close();
      permits.close();
      await relayers.stop();
      jobs.close();
      await laneChain.close();
      connection.disconnect();
    },
  };
}
