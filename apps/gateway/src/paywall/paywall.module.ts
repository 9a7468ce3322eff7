import { Inject, Injectable, Logger, Module, type OnApplicationShutdown } from '@nestjs/common';
import { REDIS_LOGGER } from '@tollgate/common';
import { describeSettings } from '@tollgate/config';
import { Ledger } from '@tollgate/ledger';
import { lowerHex } from '@tollgate/protocol';
import { connectRedis, type RedisClient, StoreError, StoreUnavailableError, withTimeout } from '@tollgate/redis';
import { queueOfChain, RequestReplyClient, SETTLE_QUEUE, VERIFY_QUEUE } from '@tollgate/transport';

import { GatewayEnvironment } from '../config/gateway.config.js';
import { AvailableRelayer } from '../signed-payments/available-relayer.js';
import { SignedPayments } from '../signed-payments/signed-payments.js';
import { AgreeingVerifiers, Agreement, SettingsWatch } from '../verifiers/agreeing-verifiers.js';
import { Challenges } from './offer/challenges.js';
import { proofNetworks } from './offer/paid-endpoint.js';
import { createPublicOrigin } from './offer/public-origin.js';
import { SignInNonces } from './offer/sign-in-nonces.js';
import { PaywallCounters } from './paywall-counters.js';
import { PaywallLog } from './paywall-log.js';
import { Paywall } from './paywall.js';
import type { Order } from './present/purchase.js';
import { Revisits } from './revisits/revisits.js';
import { Signers } from './revisits/signers.js';
import { Visits } from './revisits/visits.js';
import { PAID_ROUTES, type PaidRoute } from './route/paid-route.js';
import { PaymentIdentifiers } from './verify/payment-identifiers.js';

/** For a queue whose Redis does not answer; it is connected to in the background. */
const QUEUE_WITHIN_MS = 3_000;

interface ConnectionParts {
  redis: RedisClient;
  ledger: Ledger;
  clients: { verify: RequestReplyClient; settle: RequestReplyClient };
  agreement: Agreement;
  verifier: AgreeingVerifiers;
  settler: AgreeingVerifiers;
}

/** The paywall's connections to the ledger and the verifiers; closed after the last response is committed. */
@Injectable()
export class PaywallConnections implements OnApplicationShutdown {
  readonly #parts: ConnectionParts;
  readonly #watch: SettingsWatch;
  readonly #counters: PaywallCounters;

  constructor(
    @Inject(GatewayEnvironment) environment: GatewayEnvironment,
    @Inject(PaywallCounters) counters: PaywallCounters,
  ) {
    const { redis: urls, answers, verification, payment, acceptance, facilitator: signedPayments } = environment;
    const redis = connectRedis({ url: urls.redisUrl, role: 'gateway-ledger', logger: REDIS_LOGGER });
    const connect = (kind: typeof VERIFY_QUEUE | typeof SETTLE_QUEUE) =>
      new RequestReplyClient({
        redisUrl: urls.queueRedisUrl,
        queue: queueOfChain(kind, payment.chainId),
        queueLimit: verification.verifyQueueLimit,
      });
    const clients = { verify: connect(VERIFY_QUEUE), settle: connect(SETTLE_QUEUE) };
    const [option] = environment.options;
    if (option === undefined) throw new TypeError('there is no option');
    const settings = describeSettings({ payment, acceptance, signedPayments, redis: urls }, option);
    const agreement = new Agreement({ own: settings });
    this.#counters = counters;
    this.#parts = {
      redis,
      ledger: new Ledger({
        redis,
        chainIds: [payment.chainId],
        answerStoreBytes: answers.answerStoreBytes,
        durability: urls.durability,
        book: urls.reportsTo,
      }),
      clients,
      agreement,
      verifier: new AgreeingVerifiers({ client: clients.verify, agreement, settings }),
      settler: new AgreeingVerifiers({ client: clients.settle, agreement, settings }),
    };
    this.#watch = new SettingsWatch(this.verifier, agreement);
  }

  // Private: Nest would otherwise treat the parts as providers and close them while responses are still produced.
  get redis(): RedisClient {
    return this.#parts.redis;
  }
  get ledger(): Ledger {
    return this.#parts.ledger;
  }
  /** The client of the verify queue. */
  get client(): RequestReplyClient {
    return this.#parts.clients.verify;
  }
  get verifier(): AgreeingVerifiers {
    return this.#parts.verifier;
  }
  get settler(): AgreeingVerifiers {
    return this.#parts.settler;
  }
  get agreement(): Agreement {
    return this.#parts.agreement;
  }

  /** @throws StoreError for a Redis that is unfit; one that is only unavailable is retried in the background */
  async open(): Promise<void> {
    try {
      await this.ledger.open();
    } catch (error) {
      if (!(error instanceof StoreUnavailableError)) throw error;
      new Logger(PaywallConnections.name).warn(`${error.message} Payments are answered 503 until it is back.`);
    }
    await withTimeout(this.client.connect(), QUEUE_WITHIN_MS).catch((error: unknown) => {
      if (error instanceof StoreError) throw error;
    });
    this.#watch.start();
  }

  async onApplicationShutdown(): Promise<void> {
    await this.#counters.drained();
    this.#watch.stop();
    const { clients } = this.#parts;
    await Promise.all([clients.verify.close(), clients.settle.close()]);
    this.redis.disconnect();
  }
}

@Module({
  providers: [
    PaywallCounters,
    PaywallConnections,
    {
      provide: SignedPayments,
      inject: [GatewayEnvironment, PaywallConnections],
      useFactory: ({ verification, answers }: GatewayEnvironment, connections: PaywallConnections) =>
        new SignedPayments(connections, { ...verification, leaseMs: answers.leaseMs }),
    },
    {
      provide: AvailableRelayer,
      inject: [GatewayEnvironment, PAID_ROUTES, PaywallConnections],
      useFactory: createAvailableRelayer,
    },
    {
      provide: Paywall,
      inject: [GatewayEnvironment, PaywallConnections, PaywallCounters, SignedPayments],
      useFactory: createPaywall,
    },
  ],
  exports: [AvailableRelayer, Paywall, PaywallConnections, PaywallCounters, SignedPayments],
})
export class PaywallModule {}

/** Only needed where a route names the relayer in its challenges. */
function createAvailableRelayer(
  { payment: { chainId } }: GatewayEnvironment,
  routes: readonly PaidRoute[],
  { redis, ledger }: PaywallConnections,
): AvailableRelayer {
  const relayer = new AvailableRelayer({ redis, chainId, nowMs: () => ledger.nowMs() });
  if (routes.some(({ isMetered }) => isMetered === true)) relayer.start();
  return relayer;
}

function createPaywall(
  environment: GatewayEnvironment,
  connections: PaywallConnections,
  counters: PaywallCounters,
  signedPayments: SignedPayments,
): Paywall {
  const { payment, challenge, explorer, verification, answers, server, bookedQuery } = environment;
  const { ledger, verifier, redis } = connections;
  const { network, chainId, assetAddress: asset, assetDecimals, payTo, maxTimeoutSeconds, signedAsset } = payment;
  const { leaseMs, maxStoredAnswerBytes } = answers;
  const log = new PaywallLog(explorer.explorerUrl);
  const identifiers = new PaymentIdentifiers(redis);
  const signed = {
    chainId,
    asset: signedAsset.asset,
    assetName: signedAsset.name,
    assetVersion: signedAsset.version,
    payTo: lowerHex(payTo),
  };
  const revisits = new Revisits(redis, server.publicUrl ?? '');
  const nonces = new SignInNonces(challenge.challengeSecret);
  const reportFailure = (error: unknown, order: Order) => log.failed(error, order);
  return new Paywall({
    terms: {
      challenges: new Challenges(challenge.challengeSecret),
      networks: proofNetworks(environment),
      signedPayments: challenge.signedPayments,
      chainId,
      asset,
      payTo,
      maxTimeoutSeconds,
    },
    orders: {
      ledger,
      verifier,
      signedPayments,
      identifiers,
      revisits,
      reportFailure,
      reportOwed: log.owed.bind(log),
      assetDecimals,
      maxStoredAnswerBytes,
      leftOutOfQueries: bookedQuery.bookQuery ? bookedQuery.bookQueryWithout : null,
      terms: { network, chainId, asset, payTo, signed, ...verification, leaseMs },
    },
    visits: new Visits({
      revisits,
      ledger,
      nonces,
      chainId,
      signers: new Signers({ ...verification, verifier, chainId, nowMs: () => ledger.nowMs() }),
      reportFailure: (error, visit, requestId) => log.visitFailed(error, visit, requestId),
    }),
    counters,
    log,
    readOrigin: createPublicOrigin(server.publicUrl),
    logUnpaid: server.logUnpaid,
  });
}
