import { Inject, Module } from '@nestjs/common';
import { FeeQuotes, listFactories } from '@tollgate/chain';
import { DEFAULT_LANE_SETTINGS, Journal, LaneDirectory, RELAYER_FLEET } from '@tollgate/journal';
import { lowerHex } from '@tollgate/protocol';
import { ContractWallets, SettlementRecords, SettlementsUnderWay, Strikes } from '@tollgate/settlement';
import { PATTERNS, queueOfChain, RequestReplyServer, VERIFY_QUEUE } from '@tollgate/transport';
import {
  AcceptedAssets,
  ClientShares,
  ContractSignatures,
  Deployments,
  PaidLocks,
  PaymentVerifier,
  SellerTerms,
  SignedPaymentVerifier,
  WaitingRoom,
  WalletCheck,
} from '@tollgate/verification';
import { Registry } from 'prom-client';

import { VerifierEnvironment } from '../config/verifier.config.js';
import { provideFrom, VerifierConnections } from '../connections/verifier-connections.js';
import { countBurntGas, observeContractWallets, observeOptions, observeQueues } from '../metrics/observe-queues.js';
import { AskedOptions } from '../settings/asked-options.js';
import { AskersSettings } from '../settings/askers-settings.js';
import { TokenComparison } from '../settings/token-comparison.js';
import { VerificationController } from './verification.controller.js';

/** Takes the questions of the verify queue. */
@Module({
  controllers: [VerificationController],
  providers: [
    provideFrom(
      RequestReplyServer,
      ({ payment, redis, server, shutdown }) =>
        new RequestReplyServer({
          redisUrl: redis.queueRedisUrl,
          queue: queueOfChain(VERIFY_QUEUE, payment.chainId),
          patterns: PATTERNS[VERIFY_QUEUE],
          hasLogContext: false,
          maxInFlight: server.maxInFlight,
          closeTimeoutMs: Math.ceil(shutdown.shutdownTimeoutMs * 0.8),
        }),
    ),
    provideFrom(
      WaitingRoom,
      ({ rules }, { nowMs }) =>
        new WaitingRoom({
          waitMs: rules.receiptWaitMs,
          perClient: rules.waitingPerClient,
          total: rules.waitingTotal,
          nowMs,
        }),
    ),
    provideFrom(
      ClientShares,
      ({ rules }) =>
        new ClientShares({
          lookupsPerMinute: rules.refusedLookupsPerMinute,
          bytesPerMinute: rules.longAnswerBytesPerMinute,
        }),
    ),
    provideFrom(SellerTerms, ({ payment, options }) => new SellerTerms(payment.chainId, options)),
    provideFrom(AcceptedAssets, ({ payment, signedPayments, options }) => {
      const own = options.map(({ asset, domainName: name, domainVersion: version }) => ({ asset, name, version }));
      return new AcceptedAssets(payment.chainId, [...signedPayments.assets, ...own]);
    }),
    provideFrom(
      TokenComparison,
      ({ options, nameOption }, { chain, nowMs }, assets) =>
        new TokenComparison({ options, nameOption, assets, chain: chain.reader, nowMs }),
      AcceptedAssets,
    ),
    provideFrom(
      AskedOptions,
      ({ options }, _, askers, tokens) => new AskedOptions({ options, askers, tokens }),
      ...([AskersSettings, TokenComparison] as const),
    ),
    provideFrom(
      FeeQuotes,
      ({ settlement }, { chain: { batcher }, nowMs }) =>
        new FeeQuotes({ batcher, caps: { ...DEFAULT_LANE_SETTINGS, ...settlement.fees() }, nowMs }),
    ),
    provideFrom(
      ContractWallets,
      ({ payment: { chainId }, contractWallets, deployments, settlement }, { ledgerRedis }, registry: Registry) => {
        const areAccepted = contractWallets.signedPaymentsFrom === 'any';
        const burnsPerCode = contractWallets.contractWalletBurnsPerCode;
        const budgets = {
          calls: { gasPerHour: contractWallets.contractWalletBurnGasPerHour, gasCap: settlement.settleGasCap },
          deployments: { gasPerHour: deployments.deployGasPerHour, gasCap: deployments.deployGasCap },
        };
        const settings = { areAccepted, burnsPerCode, budgets };
        return new ContractWallets(ledgerRedis, chainId, settings, countBurntGas(registry));
      },
      Registry,
    ),
    provideFrom(
      Deployments,
      ({ options, signedPayments, deployments }, _, terms) =>
        new Deployments({
          factories: listFactories(signedPayments.factories),
          terms,
          gasCap: deployments.deployGasCap,
          mostCost: deployments.mostCost(options),
        }),
      SellerTerms,
    ),
    provideFrom(
      ContractSignatures,
      ({ payment: { chainId } }, { chain, nowMs }, shares) =>
        new ContractSignatures({ chainId, chain: chain.reader, shares, nowMs }),
      ClientShares,
    ),
    provideFrom(
      PaidLocks,
      (_, { chain, nowMs }, terms, shares) => new PaidLocks({ terms, chain: chain.reader, shares, nowMs }),
      ...([SellerTerms, ClientShares] as const),
    ),
    provideFrom(PaymentVerifier, createVerifier, ...([SellerTerms, WaitingRoom, ClientShares] as const)),
    provideFrom(
      SignedPaymentVerifier,
      createSignedVerifier,
      ...([SellerTerms, WaitingRoom, ClientShares, AcceptedAssets, FeeQuotes, ContractWallets, Deployments] as const),
    ),
  ],
  exports: [
    ...[AcceptedAssets, AskedOptions, ContractWallets, Deployments, FeeQuotes],
    ...[RequestReplyServer, SellerTerms, TokenComparison],
  ],
})
export class VerificationModule {
  constructor(
    @Inject(Registry) registry: Registry,
    @Inject(VerifierEnvironment) { payment: { chainId } }: VerifierEnvironment,
    @Inject(VerifierConnections) { chain, queueRedis }: VerifierConnections,
    @Inject(RequestReplyServer) server: RequestReplyServer,
    @Inject(PaymentVerifier) { refusals }: PaymentVerifier,
    @Inject(WaitingRoom) waitingRoom: WaitingRoom,
    @Inject(ClientShares) shares: ClientShares,
    @Inject(ContractWallets) wallets: ContractWallets,
    @Inject(TokenComparison) tokens: TokenComparison,
  ) {
    const sparing = [chain.batcher, chain.reader.refusedSignatures, refusals, waitingRoom, shares];
    observeQueues(registry, { server, chainId, waitingRoom, queueRedis, sparing });
    observeContractWallets(registry, wallets);
    observeOptions(registry, tokens);
  }
}

function createVerifier(
  { payment, rules }: VerifierEnvironment,
  { ledger, refundLog, chain: { reader: chain } }: VerifierConnections,
  terms: SellerTerms,
  waitingRoom: WaitingRoom,
  shares: ClientShares,
): PaymentVerifier {
  return new PaymentVerifier({
    terms,
    rules: {
      policy: payment.paymentPolicy,
      confirmations: rules.confirmations,
      maxTimeoutSeconds: payment.maxTimeoutSeconds,
      redemptionWindowMs: rules.redemptionWindowSeconds * 1000,
      boundRedemptionWindowMs: rules.boundRedemptionWindowSeconds * 1000,
    },
    chain,
    ledger,
    refundLog,
    waitingRoom,
    shares,
  });
}

function createSignedVerifier(
  { payment, rules, settlement }: VerifierEnvironment,
  { ledgerRedis, ledger, refundLog, chain: { reader: chain }, nowMs }: VerifierConnections,
  terms: SellerTerms,
  waitingRoom: WaitingRoom,
  shares: ClientShares,
  assets: AcceptedAssets,
  fees: FeeQuotes,
  wallets: ContractWallets,
  deployments: Deployments,
): SignedPaymentVerifier {
  const journal = new Journal({ redis: ledgerRedis, fleet: RELAYER_FLEET });
  const relayers = new LaneDirectory({ journal, chainId: payment.chainId, nowMs });
  // Includes relayers that are down for now: a payer may have been asked to sign for one of them.
  const listRelayers = async () => (await relayers.read()).map(({ address }) => address);
  return new SignedPaymentVerifier({
    rules: {
      confirmations: rules.confirmations,
      redemptionWindowMs: rules.redemptionWindowSeconds * 1000,
      memoryMs: rules.memoryMs,
      settleGasCap: settlement.settleGasCap,
      deployments,
      multicall3: lowerHex(settlement.multicall3Address),
      wallets: new WalletCheck({ wallets, deployments, fees, chain, listRelayers }),
      strikes: new Strikes(ledgerRedis, payment.chainId),
    },
    readRelayers: async () => new Set(await listRelayers()),
    underWay: new SettlementsUnderWay({ journal, records: new SettlementRecords(ledgerRedis) }),
    terms,
    assets,
    chain,
    ledger,
    refundLog,
    waitingRoom,
    shares,
  });
}
