import { Inject, Logger, Module, type DynamicModule, type OnApplicationShutdown } from '@nestjs/common';
import { ChainReader, combineObservers, connectChain, type ConnectedChain, FeeQuotes } from '@tollgate/chain';
import {
  checkRedis,
  createLoggerParams,
  HealthModule,
  listSecrets,
  MetricsModule,
  REDIS_LOGGER,
  type RequestReplyServer,
} from '@tollgate/common';
import { DEFAULT_LANE_SETTINGS, Journal, LaneDirectory, RELAYER_FLEET } from '@tollgate/journal';
import { Ledger } from '@tollgate/ledger';
import type { Hex } from '@tollgate/protocol';
import { connectRedis } from '@tollgate/redis';
import { SettlementRecords, SettlementsUnderWay } from '@tollgate/settlement';
import {
  AcceptedAssets,
  ClientShares,
  ContractSignatures,
  PaymentVerifier,
  SignedPaymentVerifier,
  type SignedPaymentVerifierOptions,
  WaitingRoom,
  WalletCheck,
} from '@tollgate/verification';
import type { Redis } from 'ioredis';
import { LoggerModule } from 'nestjs-pino';
import { Registry } from 'prom-client';

import type { RulesEnvironment } from './config/rules.environment.js';
import { observeQueues } from './metrics/observe-queues.js';
import { observeRelayers } from './metrics/observe-relayers.js';
import { observeSparedLookups } from './metrics/observe-spared-lookups.js';
import { RpcTroubleLog } from './metrics/rpc-trouble-log.js';
import { SettlementMetrics } from './metrics/settlement-metrics.js';
import { VerifierMetrics } from './metrics/verifier-metrics.js';
import { AskersSettings } from './settings/askers-settings.js';
import { createSettingsChecks } from './settings/create-settings-checks.js';
import { TokenDecimals } from './settings/token-decimals.js';
import { createContractWallets } from './settlement/create-contract-wallets.js';
import { createSettlement, SETTLEMENT, type Settlement } from './settlement/create-settlement.js';
import { RelayerTroubles } from './settlement/relayer-troubles.js';
import { SettlementController } from './settlement/settlement.controller.js';
import { VerificationController } from './verification/verification.controller.js';
import type { VerifierEnvironment } from './verifier.config.js';

const CONNECTIONS = Symbol('connections');
/** A readiness probe asks the chain only if its last answer is older than this. */
const CHAIN_NEWS_MS = 15_000;
const CHAIN_CHECK_MS = 1_500;

interface Connections {
  ledgerRedis: Redis;
  queueRedis: Redis;
  chain: ConnectedChain;
}

@Module({})
export class VerifierModule implements OnApplicationShutdown {
  constructor(@Inject(CONNECTIONS) private readonly connections: Connections) {}

  /** `isOpen`: the ledger is open and questions are taken. */
  static forRoot(environment: VerifierEnvironment, server: RequestReplyServer, isOpen: () => boolean): DynamicModule {
    const registry = new Registry();
    const metrics = new VerifierMetrics(registry);
    const ledgerRedis = connectRedis({ url: environment.redis.redisUrl, role: 'ledger', logger: REDIS_LOGGER });
    const queueRedis = connectRedis({
      url: environment.redis.queueRedisUrl,
      role: 'verify-queue-length',
      logger: REDIS_LOGGER,
    });
    const ledger = createLedger(environment, ledgerRedis);
    const nowMs = () => ledger.nowMs();
    const chain = connectChain({
      ...chainOptions(environment),
      observer: combineObservers(metrics, new RpcTroubleLog()),
      nowMs,
    });
    const waitingRoom = createWaitingRoom(environment, nowMs);
    const shares = createShares(environment, nowMs);
    const assets = createAssets(environment);
    const { askers, decimals } = createSettingsChecks(environment, { registry, chain: chain.reader, nowMs });
    const troubles = new RelayerTroubles(registry);
    const { batcher } = chain;
    const fees = new FeeQuotes({
      batcher,
      caps: { ...DEFAULT_LANE_SETTINGS, ...environment.settlement.fees() },
      nowMs,
    });
    const wallets = createContractWallets(environment, { redis: ledgerRedis, registry });
    const settlementMetrics = new SettlementMetrics(registry);
    const refundLog = new Logger('Refunds');
    const settlement: Settlement | null = createSettlement(environment, {
      chain,
      refunds: { ledger, refundLog },
      assets,
      fees,
      wallets,
      metrics: settlementMetrics,
      nowMs,
      onTrouble: (relayer, error) => troubles.report(relayer, error),
    });
    const parts = { chain: chain.reader, ledger, refundLog, waitingRoom, shares, assets };
    const verifier = createVerifier(environment, parts);
    const journal = new Journal({ redis: ledgerRedis, fleet: RELAYER_FLEET });
    const underWay = new SettlementsUnderWay({ journal, records: new SettlementRecords(ledgerRedis) });
    const relayers = new LaneDirectory({
      journal,
      chainId: environment.payment.chainId,
      nowMs,
    });
    // Includes relayers that are down for now: a payer may have been asked to sign for one of them.
    const listRelayers = async () => (await relayers.read()).map(({ address }) => address);
    const readRelayers = async () => new Set(await listRelayers());
    const walletCheck = new WalletCheck({ wallets, fees, chain: chain.reader, listRelayers });
    observeQueues(registry, { server, waitingRoom, queueRedis });
    observeSparedLookups(registry, [
      chain.batcher,
      chain.reader.refusedSignatures,
      verifier.refusals,
      waitingRoom,
      shares,
    ]);
    const { chainId } = environment.payment;
    if (settlement) observeRelayers(registry, settlement, { chainId, batcher, nowMs });

    return {
      module: VerifierModule,
      imports: [
        LoggerModule.forRoot(
          createLoggerParams({ service: 'verifier', log: environment.log, secrets: secretsOf(environment) }),
        ),
        MetricsModule.forRoot({ service: 'verifier', registry }),
        HealthModule.forRoot({
          redis: checkRedis(ledgerRedis),
          queue: checkRedis(queueRedis),
          chain: checkChain(chain.reader, nowMs),
          ledger: checkOpen(isOpen),
          asset: () => decimals.assertEqual(),
          settings: () => Promise.resolve({ differ: askers.differences }),
        }),
      ],
      controllers: settlement ? [VerificationController, SettlementController] : [VerificationController],
      providers: [
        { provide: CONNECTIONS, useValue: { ledgerRedis, queueRedis, chain } satisfies Connections },
        { provide: Ledger, useValue: ledger },
        {
          provide: ContractSignatures,
          useValue: new ContractSignatures({ chainId, chain: chain.reader, shares, nowMs }),
        },
        { provide: ChainReader, useValue: chain.reader },
        { provide: AcceptedAssets, useValue: assets },
        { provide: PaymentVerifier, useValue: verifier },
        {
          provide: SignedPaymentVerifier,
          useValue: createSignedVerifier(environment, { ...parts, readRelayers, underWay, walletCheck }),
        },
        { provide: TokenDecimals, useValue: decimals },
        { provide: AskersSettings, useValue: askers },
        { provide: VerifierMetrics, useValue: metrics },
        { provide: SettlementMetrics, useValue: settlementMetrics },
        { provide: SETTLEMENT, useValue: settlement },
      ],
    };
  }

  /** Runs after the transport is closed: every question in flight has its verdict. */
  async onApplicationShutdown(): Promise<void> {
    await this.connections.chain.close();
    this.connections.ledgerRedis.disconnect();
    this.connections.queueRedis.disconnect();
  }
}

/** Keys are redacted with and without their `0x`. */
function secretsOf(environment: VerifierEnvironment): string[] {
  return listSecrets(environment).map((secret) => secret.replace(/^0x/, ''));
}

function createLedger({ rules }: VerifierEnvironment, redis: Redis): Ledger {
  return new Ledger({ redis, retentionMs: memoryMs(rules) });
}

/** How long the ledger remembers a payment. */
function memoryMs({ redemptionWindowSeconds, boundRedemptionWindowSeconds }: RulesEnvironment): number {
  return Math.max(redemptionWindowSeconds, boundRedemptionWindowSeconds) * 1000;
}

function chainOptions({ chain, payment }: VerifierEnvironment) {
  return {
    urls: chain.rpcUrl,
    chainId: payment.chainId,
    timeoutMs: chain.rpcTimeoutMs,
    batchSize: chain.rpcBatchSize,
    batchesInFlight: chain.rpcBatchesInFlight,
    maxResponseBytes: chain.rpcMaxResponseBytes,
    maxReceiptBytes: chain.rpcMaxReceiptBytes,
    logRangeBlocks: chain.rpcLogRangeBlocks,
  };
}

function createWaitingRoom({ rules }: VerifierEnvironment, nowMs: () => number): WaitingRoom {
  return new WaitingRoom({
    waitMs: rules.receiptWaitMs,
    perClient: rules.waitingPerClient,
    total: rules.waitingTotal,
    nowMs,
  });
}

function createShares({ rules }: VerifierEnvironment, nowMs: () => number): ClientShares {
  const { refusedLookupsPerMinute, longAnswerBytesPerMinute } = rules;
  return new ClientShares({
    lookupsPerMinute: refusedLookupsPerMinute,
    bytesPerMinute: longAnswerBytesPerMinute,
    nowMs,
  });
}

interface VerifierParts {
  chain: ChainReader;
  ledger: Ledger;
  refundLog: Logger;
  waitingRoom: WaitingRoom;
  shares: ClientShares;
}

function createVerifier({ payment, rules }: VerifierEnvironment, parts: VerifierParts): PaymentVerifier {
  return new PaymentVerifier({
    ...parts,
    terms: {
      chainId: payment.chainId,
      asset: payment.assetAddress.toLowerCase(),
      payTo: payment.payTo.toLowerCase(),
    },
    rules: {
      policy: payment.paymentPolicy,
      confirmations: rules.confirmations,
      maxTimeoutSeconds: payment.maxTimeoutSeconds,
      redemptionWindowMs: rules.redemptionWindowSeconds * 1000,
      boundRedemptionWindowMs: rules.boundRedemptionWindowSeconds * 1000,
    },
  });
}

function createAssets({ payment, signedPayments }: VerifierEnvironment): AcceptedAssets {
  return new AcceptedAssets(payment.chainId, [...signedPayments.assets, payment.signedAsset]);
}

function createSignedVerifier(
  { rules, signedPayments, settlement }: VerifierEnvironment,
  {
    walletCheck,
    ...parts
  }: VerifierParts &
    Pick<SignedPaymentVerifierOptions, 'assets' | 'readRelayers' | 'underWay'> & { walletCheck: WalletCheck },
): SignedPaymentVerifier {
  return new SignedPaymentVerifier({
    ...parts,
    rules: {
      confirmations: rules.confirmations,
      redemptionWindowMs: rules.redemptionWindowSeconds * 1000,
      memoryMs: memoryMs(rules),
      settleGasCap: settlement.settleGasCap,
      factories: signedPayments.factories,
      multicall3: settlement.multicall3Address.toLowerCase() as Hex,
      wallets: walletCheck,
    },
  });
}

function checkOpen(isOpen: () => boolean): () => Promise<void> {
  return async () => {
    if (!isOpen()) throw new Error('the ledger is not open yet');
  };
}

function checkChain(chain: ChainReader, nowMs: () => number): () => Promise<void> {
  let lastAnswerMs = Number.NEGATIVE_INFINITY;
  return async () => {
    if (nowMs() - lastAnswerMs < CHAIN_NEWS_MS) return;
    await chain.readHead(nowMs() + CHAIN_CHECK_MS);
    lastAnswerMs = nowMs();
  };
}
