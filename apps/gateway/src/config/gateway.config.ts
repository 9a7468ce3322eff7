import {
  chainsOf,
  AcceptanceEnvironment,
  CryptoEnvironment,
  ExplorerEnvironment,
  IsIntIn,
  listOptions,
  LogEnvironment,
  PaymentEnvironment,
  RedisEnvironment,
  Setting,
  SettingGroup,
  ShutdownEnvironment,
  type ChecksTogether,
  type PaymentOption,
} from '@tollgate/config';
import { isLoopbackHost } from '@tollgate/http';
import { v1NetworkOf } from '@tollgate/protocol';

import { AgentJobsEnvironment } from './agent-jobs.environment.js';
import { BookedQueryEnvironment } from './booked-query.environment.js';
import { ChallengeEnvironment } from './challenge.environment.js';
import { FacilitatorEnvironment } from './facilitator.environment.js';
import { PagesEnvironment } from './pages.environment.js';
import { ServerEnvironment } from './server.environment.js';
import { WeatherEnvironment } from './weather.environment.js';

/** How paid responses are produced and stored. */
class AnswerEnvironment {
  @Setting({ help: 'Largest answer that is stored with its payment; a larger one is streamed.' })
  @IsIntIn(0, 268_435_456)
  readonly maxStoredAnswerBytes: number = 1_048_576;

  @Setting({ help: 'Bytes of Redis for all stored answers; above it only the payment is recorded.' })
  @IsIntIn(0)
  readonly answerStoreBytes: number = 536_870_912;

  @Setting({
    help: 'Milliseconds after which a payment can be retried if its gateway has died.',
  })
  @IsIntIn(1_000, 600_000)
  readonly leaseMs: number = 30_000;
}

/** How the gateway asks a verifier about a payment. */
class VerificationEnvironment implements ChecksTogether {
  @Setting({ help: 'Milliseconds for the verification of a payment; after that, 503.' })
  @IsIntIn(100, 120_000)
  readonly verifyDeadlineMs: number = 10_000;

  @Setting({ help: 'Milliseconds after which an unanswered question is sent to a verifier again.' })
  @IsIntIn(50, 120_000)
  readonly verifyRetryMs: number = 4_000;

  @Setting({ help: 'Questions that may wait for a verifier; above it, 503.' })
  @IsIntIn(1, 1_000_000)
  readonly verifyQueueLimit: number = 1_000;

  @Setting({
    help: 'Milliseconds for the settlement of a signed payment; after that, 503 settlement_pending.',
  })
  @IsIntIn(100, 120_000)
  readonly settleDeadlineMs: number = 15_000;

  problemsTogether(): string[] {
    return this.verifyRetryMs < this.verifyDeadlineMs
      ? []
      : ['VERIFY_RETRY_MS must be below VERIFY_DEADLINE_MS, or a lost question is never repeated.'];
  }
}

/** All settings of the gateway; read at the start by `readEnvironment(GatewayEnvironment, process.env)`. */
export class GatewayEnvironment implements ChecksTogether {
  @SettingGroup(ServerEnvironment) readonly server!: ServerEnvironment;
  @SettingGroup(PaymentEnvironment) readonly payment!: PaymentEnvironment;
  @SettingGroup(AcceptanceEnvironment) readonly acceptance!: AcceptanceEnvironment;
  @SettingGroup(ExplorerEnvironment) readonly explorer!: ExplorerEnvironment;
  @SettingGroup(ChallengeEnvironment) readonly challenge!: ChallengeEnvironment;
  @SettingGroup(VerificationEnvironment) readonly verification!: VerificationEnvironment;
  @SettingGroup(AnswerEnvironment) readonly answers!: AnswerEnvironment;
  @SettingGroup(WeatherEnvironment) readonly weather!: WeatherEnvironment;
  @SettingGroup(AgentJobsEnvironment) readonly agentJobs!: AgentJobsEnvironment;
  @SettingGroup(FacilitatorEnvironment) readonly facilitator!: FacilitatorEnvironment;
  @SettingGroup(PagesEnvironment) readonly pages!: PagesEnvironment;
  @SettingGroup(RedisEnvironment) readonly redis!: RedisEnvironment;
  @SettingGroup(BookedQueryEnvironment) readonly bookedQuery!: BookedQueryEnvironment;
  @SettingGroup(ShutdownEnvironment) readonly shutdown!: ShutdownEnvironment;
  @SettingGroup(CryptoEnvironment) readonly crypto!: CryptoEnvironment;
  @SettingGroup(LogEnvironment) readonly log!: LogEnvironment;

  #options: readonly PaymentOption[] | null = null;

  /** What the seller accepts. */
  get options(): readonly PaymentOption[] {
    return (this.#options ??= listOptions(this));
  }

  get warnings(): string[] {
    const sellsNothing = this.weather.weatherSource === 'off' && this.challenge.routesFile === undefined;
    const hint = 'This gateway sells nothing: name your routes in ROUTES_FILE, or set another WEATHER_SOURCE than off.';
    return sellsNothing && !this.facilitator.isServed ? [hint] : [];
  }

  problemsTogether(): string[] {
    return [...this.#listProblems()];
  }

  *#listProblems(): Iterable<string> {
    const { agentJobs, challenge, facilitator, pages, payment, server } = this;
    if (challenge.challengeForm === 'v1-clients') {
      if (server.publicUrl === undefined)
        yield 'CHALLENGE_FORM=v1-clients needs PUBLIC_URL: x402 v1 clients only accept a URL as the resource.';
      for (const { id: chainId } of chainsOf(this.options))
        if (v1NetworkOf(chainId) === null)
          yield `CHALLENGE_FORM=v1-clients: x402 v1 clients have no name for chain ${chainId}.`;
    }
    if (facilitator.facilitatorPayTo.length > 0 && this.options.length > 1)
      yield 'FACILITATOR_PAY_TO settles without a key from FACILITATOR_MIN_BASE_UNITS on, which are base units of one token, and PAYMENTS_FILE has several: remove it, and give the servers API keys.';
    if (payment.paymentPolicy === 'receipt') {
      const need =
        "needs PAYMENT_POLICY transfer or bound: under receipt, a settlement's transaction could be presented as a second payment.";
      if (challenge.signedPayments) yield `SIGNED_PAYMENTS ${need}`;
      if (facilitator.isServed) yield `FACILITATOR ${need}`;
    }
    if (agentJobs.agentSecret !== undefined && challenge.challengeSecret.includes(agentJobs.agentSecret))
      yield 'AGENT_SECRET and CHALLENGE_SECRET are equal. Use a different secret for each.';
    if (pages.testWallet !== undefined && !isLoopbackHost(server.host))
      yield `TEST_WALLET signs without asking, so HOST must be a loopback address, and is ${server.host}.`;
  }
}
