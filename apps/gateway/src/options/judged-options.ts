import { describeSettings, type PaymentOption } from '@tollgate/config';
import { Ledger } from '@tollgate/ledger';
import type { RedisClient } from '@tollgate/redis';
import { queueOfChain, RequestReplyClient, SETTLE_QUEUE, VERIFY_QUEUE } from '@tollgate/transport';

import type { GatewayEnvironment } from '../config/gateway.config.js';
import { AvailableRelayer } from '../signed-payments/available-relayer.js';
import { SignedPayments } from '../signed-payments/signed-payments.js';
import { AgreeingVerifiers, Agreement, SettingsWatch, type Verifiers } from '../verifiers/agreeing-verifiers.js';

/** An option, and what decides how it is offered. */
export interface OfferableOption {
  readonly option: PaymentOption;
  /** Whether a verifier judges it now: it is offered only then. */
  readonly agreement: Pick<Agreement, 'isFresh' | 'takesAuthorizations'>;
  /** Of its chain. */
  readonly relayer: Pick<AvailableRelayer, 'address'>;
}

/** An option that the gateway sells in, and the verifiers that judge its payments. */
export interface JudgedOption extends OfferableOption {
  readonly verifier: Verifiers;
  readonly signedPayments: SignedPayments;
}

interface ChainParts {
  readonly verify: RequestReplyClient;
  readonly settle: RequestReplyClient;
  readonly relayer: AvailableRelayer;
}

/** The options of a gateway, each asked about with settings of its own, over the queues of its chain. */
export class JudgedOptions {
  readonly list: readonly JudgedOption[];
  readonly #agreements: readonly (readonly [name: string, agreement: Agreement])[];
  readonly #watches: readonly SettingsWatch[];
  readonly #chains = new Map<number, ChainParts>();

  constructor(environment: GatewayEnvironment, { redis, ledger }: { redis: RedisClient; ledger: Ledger }) {
    const { redis: urls, verification, payment, acceptance, facilitator, answers, options } = environment;
    const settled = { ...verification, leaseMs: answers.leaseMs };
    const judged = options.map((option) => {
      const { verify, settle, relayer } = this.#connect(option.chain.id, environment, { redis, ledger });
      const settings = describeSettings({ payment, acceptance, signedPayments: facilitator, redis: urls }, option);
      const agreement = new Agreement({ own: settings });
      const verifier = new AgreeingVerifiers({ client: verify, agreement, settings });
      const settler = new AgreeingVerifiers({ client: settle, agreement, settings });
      const signedPayments = new SignedPayments({ ledger, verifier, settler }, settled);
      return { option, agreement, relayer, verifier, signedPayments };
    });
    this.list = judged;
    this.#agreements = judged.map(({ option, agreement }) => [option.name, agreement]);
    this.#watches = judged.map(({ verifier, agreement }) => new SettingsWatch(verifier, agreement));
  }

  /** The clients of the verify queues by chain id. */
  get clients(): ReadonlyMap<number, RequestReplyClient> {
    return new Map([...this.#chains].map(([chainId, { verify }]) => [chainId, verify]));
  }

  /** Resolves when each option was asked about once. @param isMetered whether challenges name relayers */
  async start(isMetered: boolean): Promise<void> {
    if (isMetered) for (const { relayer } of this.#chains.values()) relayer.start();
    await Promise.all(this.#watches.map((watch) => watch.start()));
  }

  stop(): void {
    for (const watch of this.#watches) watch.stop();
    for (const { relayer } of this.#chains.values()) relayer.stop();
  }

  async close(): Promise<void> {
    const clients = [...this.#chains.values()].flatMap(({ verify, settle }) => [verify, settle]);
    await Promise.all(clients.map((client) => client.close()));
  }

  /** For readiness: the options that are not offered, each with its reason. @throws Error if none is offered */
  async check(): Promise<{ notOffered: string[] } | undefined> {
    const checked = await Promise.allSettled(this.#agreements.map(([, agreement]) => agreement.check()));
    const reasons = checked.flatMap((result, at) => {
      if (result.status === 'fulfilled') return [];
      const { message } = result.reason as Error;
      return checked.length === 1 ? message : `${this.#agreements[at]?.[0]}: ${message}`;
    });
    if (reasons.length === checked.length) throw new Error(reasons.join('; '));
    return reasons.length === 0 ? undefined : { notOffered: reasons };
  }

  #connect(
    chainId: number,
    { redis: { queueRedisUrl: redisUrl }, verification: { verifyQueueLimit: queueLimit } }: GatewayEnvironment,
    { redis, ledger }: { redis: RedisClient; ledger: Ledger },
  ): ChainParts {
    const known = this.#chains.get(chainId);
    if (known !== undefined) return known;
    const connect = (kind: typeof VERIFY_QUEUE | typeof SETTLE_QUEUE): RequestReplyClient =>
      new RequestReplyClient({ redisUrl, queue: queueOfChain(kind, chainId), queueLimit });
    const relayer = new AvailableRelayer({ redis, chainId, nowMs: () => ledger.nowMs() });
    const parts = { verify: connect(VERIFY_QUEUE), settle: connect(SETTLE_QUEUE), relayer };
    this.#chains.set(chainId, parts);
    return parts;
  }
}
