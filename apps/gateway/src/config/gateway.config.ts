import {
  AcceptanceEnvironment,
  type ChecksTogether,
  CryptoEnvironment,
  ExplorerEnvironment,
  isLoopbackHost,
  LogEnvironment,
  PaymentEnvironment,
  RedisEnvironment,
  SettingGroup,
  ShutdownEnvironment,
} from '@tollgate/common';
import { v1NetworkOf } from '@tollgate/protocol';

import { AgentJobsEnvironment } from './agent-jobs.environment.js';
import { AnswerEnvironment } from './answer.environment.js';
import { ChallengeEnvironment } from './challenge.environment.js';
import { FacilitatorEnvironment } from './facilitator.environment.js';
import { PagesEnvironment } from './pages.environment.js';
import { ServerEnvironment } from './server.environment.js';
import { VerificationEnvironment } from './verification.environment.js';
import { WeatherEnvironment } from './weather.environment.js';

/** All settings of the gateway; read at the start by `readEnvironment(GatewayEnvironment, process.env)`. */
export class GatewayEnvironment implements ChecksTogether {
  @SettingGroup(ServerEnvironment)
  readonly server!: ServerEnvironment;

  @SettingGroup(PaymentEnvironment)
  readonly payment!: PaymentEnvironment;

  @SettingGroup(AcceptanceEnvironment)
  readonly acceptance!: AcceptanceEnvironment;

  @SettingGroup(ExplorerEnvironment)
  readonly explorer!: ExplorerEnvironment;

  @SettingGroup(ChallengeEnvironment)
  readonly challenge!: ChallengeEnvironment;

  @SettingGroup(VerificationEnvironment)
  readonly verification!: VerificationEnvironment;

  @SettingGroup(AnswerEnvironment)
  readonly answers!: AnswerEnvironment;

  @SettingGroup(WeatherEnvironment)
  readonly weather!: WeatherEnvironment;

  @SettingGroup(AgentJobsEnvironment)
  readonly agentJobs!: AgentJobsEnvironment;

  @SettingGroup(FacilitatorEnvironment)
  readonly facilitator!: FacilitatorEnvironment;

  @SettingGroup(PagesEnvironment)
  readonly pages!: PagesEnvironment;

  @SettingGroup(RedisEnvironment)
  readonly redis!: RedisEnvironment;

  @SettingGroup(ShutdownEnvironment)
  readonly shutdown!: ShutdownEnvironment;

  @SettingGroup(CryptoEnvironment)
  readonly crypto!: CryptoEnvironment;

  @SettingGroup(LogEnvironment)
  readonly log!: LogEnvironment;

  /** Logged once at the start. */
  get warnings(): string[] {
    return [...this.payment.warnings, ...this.server.warnings];
  }

  problemsTogether(): string[] {
    return [
      ...this.#problemsOfForm(),
      ...this.#problemsOfPolicy(),
      ...this.#problemsOfSecrets(),
      ...this.#problemsOfTestWallet(),
    ];
  }

  #problemsOfForm(): string[] {
    if (this.challenge.challengeForm !== 'v1-clients') return [];
    const { chainId } = this.payment;
    const problems: string[] = [];
    if (this.server.publicUrl === undefined) {
      problems.push('CHALLENGE_FORM=v1-clients needs PUBLIC_URL: x402 v1 clients only accept a URL as the resource.');
    }
    if (v1NetworkOf(chainId) === null) {
      problems.push(`CHALLENGE_FORM=v1-clients: x402 v1 clients have no name for chain ${chainId}.`);
    }
    return problems;
  }

  #problemsOfSecrets(): string[] {
    const { agentSecret } = this.agentJobs;
    const isUsedTwice = agentSecret !== undefined && this.challenge.challengeSecret.includes(agentSecret);
    return isUsedTwice ? ['AGENT_SECRET and CHALLENGE_SECRET are equal. Use a different secret for each.'] : [];
  }

  #problemsOfTestWallet(): string[] {
    if (this.pages.testWallet === undefined || isLoopbackHost(this.server.host)) return [];
    return [`TEST_WALLET signs without asking, so HOST must be a loopback address, and is ${this.server.host}.`];
  }

  #problemsOfPolicy(): string[] {
    if (this.payment.paymentPolicy !== 'receipt') return [];
    const settling = [
      ...(this.challenge.signedPayments ? ['SIGNED_PAYMENTS'] : []),
      ...(this.facilitator.isServed ? ['FACILITATOR'] : []),
    ];
    return settling.map(
      (setting) =>
        `${setting} needs PAYMENT_POLICY transfer or bound: under receipt, a settlement's transaction could be presented as a second payment.`,
    );
  }
}
