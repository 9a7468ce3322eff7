import { Inject, Injectable, Logger, Module, type OnApplicationShutdown } from '@nestjs/common';
import { REDIS_LOGGER } from '@tollgate/common';
import { chainsOf } from '@tollgate/config';
import { Ledger } from '@tollgate/ledger';
import { lowerHex } from '@tollgate/protocol';
import { connectRedis, type RedisClient, StoreError, StoreUnavailableError, withTimeout } from '@tollgate/redis';

import { GatewayEnvironment } from '../config/gateway.config.js';
import { JudgedOptions, type JudgedOption } from '../options/judged-options.js';
import type { OrderParts } from './gateway-purchase.js';
import { Challenges } from './offer/challenges.js';
import { createPublicOrigin } from './offer/public-origin.js';
import { SignInNonces } from './offer/sign-in-nonces.js';
import { PaywallCounters } from './paywall-counters.js';
import { PaywallLog } from './paywall-log.js';
import { Paywall } from './paywall.js';
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
  options: JudgedOptions;
}

/** The paywall's connections to the ledger and the verifiers; closed after the last response is committed. */
@Injectable()
export class PaywallConnections implements OnApplicationShutdown {
  readonly #parts: ConnectionParts;
  readonly #isMetered: boolean;
  readonly #counters: PaywallCounters;

  constructor(
    @Inject(GatewayEnvironment) environment: GatewayEnvironment,
    @Inject(PAID_ROUTES) routes: readonly PaidRoute[],
    @Inject(PaywallCounters) counters: PaywallCounters,
  ) {
    const { redis: urls, answers, options } = environment;
    const redis = connectRedis({ url: urls.redisUrl, role: 'gateway-ledger', logger: REDIS_LOGGER });
    const ledger = new Ledger({
      redis,
      chainIds: chainsOf(options).map(({ id }) => id),
      answerStoreBytes: answers.answerStoreBytes,
      durability: urls.durability,
      book: urls.reportsTo,
    });
    this.#counters = counters;
    this.#isMetered = routes.some(({ isMetered }) => isMetered === true);
    this.#parts = { redis, ledger, options: new JudgedOptions(environment, { redis, ledger }) };
  }

  // Private: Nest would otherwise treat the parts as providers and close them while responses are still produced.
  get redis(): RedisClient {
    return this.#parts.redis;
  }
  get ledger(): Ledger {
    return this.#parts.ledger;
  }
  get options(): JudgedOptions {
    return this.#parts.options;
  }

  /** @throws StoreError for a Redis that is unfit; one that is only unavailable is retried in the background */
  async open(): Promise<void> {
    try {
      await this.ledger.open();
    } catch (error) {
      if (!(error instanceof StoreUnavailableError)) throw error;
      new Logger(PaywallConnections.name).warn(`${error.message} Payments are answered 503 until it is back.`);
    }
    const connected = [...this.options.clients.values()].map((client) => client.connect());
    await withTimeout(Promise.all(connected), QUEUE_WITHIN_MS).catch((error: unknown) => {
      if (error instanceof StoreError) throw error;
    });
    await this.options.start(this.#isMetered);
  }

  async onApplicationShutdown(): Promise<void> {
    await this.#counters.drained();
    this.options.stop();
    await this.options.close();
    this.redis.disconnect();
  }
}

@Module({
  providers: [
    PaywallCounters,
    PaywallConnections,
    {
      provide: Paywall,
      inject: [GatewayEnvironment, PaywallConnections, PaywallCounters],
      useFactory: createPaywall,
    },
  ],
  exports: [Paywall, PaywallConnections, PaywallCounters],
})
export class PaywallModule {}

function createPaywall(
  environment: GatewayEnvironment,
  connections: PaywallConnections,
  counters: PaywallCounters,
): Paywall {
  const { payment, challenge, server, verification } = environment;
  const { ledger, redis, options } = connections;
  const log = new PaywallLog();
  const revisits = new Revisits(redis, server.publicUrl ?? '');
  const orders = createOrderParts(environment, connections, { log, revisits });
  const nowMs = (): number => ledger.nowMs();
  return new Paywall({
    terms: {
      challenges: new Challenges(challenge.challengeSecret),
      signedPayments: challenge.signedPayments,
      maxTimeoutSeconds: payment.maxTimeoutSeconds,
    },
    orders: new Map(options.list.map((judged) => [judged.option.name, orders(judged)])),
    visits: new Visits({
      revisits,
      ledger,
      nonces: new SignInNonces(challenge.challengeSecret),
      signers: new Signers({ ...verification, options: options.list, nowMs }),
      reportFailure: (error, visit, requestId) => log.visitFailed(error, visit, requestId),
    }),
    counters,
    log,
    readOrigin: createPublicOrigin(server.publicUrl),
    logUnpaid: server.logUnpaid,
  });
}

/** What orders in an option are made of. */
function createOrderParts(
  { verification, answers, bookedQuery }: GatewayEnvironment,
  { ledger, redis }: PaywallConnections,
  { log, revisits }: { log: PaywallLog; revisits: Revisits },
): (judged: JudgedOption) => OrderParts {
  const { leaseMs, maxStoredAnswerBytes } = answers;
  const identifiers = new PaymentIdentifiers(redis);
  return ({ option, verifier, signedPayments }) => {
    const { chain, asset, payTo, domainName: assetName, domainVersion: assetVersion } = option;
    const signed = { chainId: chain.id, asset: lowerHex(asset), assetName, assetVersion, payTo: lowerHex(payTo) };
    const terms = { network: chain.network, chainId: chain.id, asset, payTo, signed, ...verification, leaseMs };
    return {
      ledger,
      verifier,
      signedPayments,
      identifiers,
      revisits,
      reportFailure: (error, order) => log.failed(error, order),
      reportOwed: log.owed.bind(log),
      option,
      maxStoredAnswerBytes,
      leftOutOfQueries: bookedQuery.bookQuery ? bookedQuery.bookQueryWithout : null,
      terms,
    };
  };
}
