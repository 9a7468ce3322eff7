import { setTimeout as sleep } from 'node:timers/promises';

import { findDifferences } from '@tollgate/config';
import {
  COMPARE_SETTINGS,
  isOptionUnready,
  isSettingsDiffer,
  NoReplyError,
  parseAnswer,
  type AnswerOf,
  type AskedOf,
  type AskOptions,
  type MessageClient,
  type PatternOf,
  type RequestReplyClient,
  type SETTLE_QUEUE,
  type VERIFY_QUEUE,
} from '@tollgate/transport';

export interface AgreeingVerifiersParts {
  readonly client: Pick<RequestReplyClient, 'ask'>;
  readonly agreement: Agreement;
  /** This gateway's settings, as `describeSettings` returns them. */
  readonly settings: string;
}

export type Verifiers = MessageClient<typeof VERIFY_QUEUE>;
/** The verifiers with a relayer. */
export type Settlers = MessageClient<typeof SETTLE_QUEUE>;

/**
 * Long enough for the agreeing one of two verifiers to get the question. After that the answer is a 503 with
 * `Retry-After`.
 */
const ASKED_AGAIN_FOR_MS = 3_000;
const FIRST_PAUSE_MS = 10;
const LONGEST_PAUSE_MS = 250;

/**
 * Sends questions together with this gateway's settings. Verifiers with other settings may serve the same queue, for
 * instance while a setting is being changed: a question is then repeated until a verifier with the same settings takes
 * it.
 */
export class AgreeingVerifiers {
  constructor(private readonly parts: AgreeingVerifiersParts) {}

  /**
   * As `RequestReplyClient.ask`; the answer is `settings_differ` if only verifiers with other settings took the question.
   */
  async ask<Asked extends PatternOf<typeof VERIFY_QUEUE | typeof SETTLE_QUEUE>>(
    pattern: Asked,
    request: AskedOf<Asked>,
    options: AskOptions,
  ): Promise<AnswerOf<Asked>> {
    const { client, agreement, settings } = this.parts;
    const question = { ...request, settings };
    const startedAtMs = performance.now();
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
      const askedAtMs = performance.now();
      const timeoutMs = startedAtMs + options.timeoutMs - askedAtMs;
      const answer = parseAnswer(pattern, await client.ask(pattern, question, { ...options, timeoutMs }));
      if (isOptionUnready(answer)) return answer;
      if (!isSettingsDiffer(answer)) {
        agreement.noteAgreed();
        return answer;
      }
      agreement.noteDiffering(answer.settings);
      // By now it was sent twice, and an agreeing verifier may be at work on the other copy.
      if (performance.now() - askedAtMs >= (options.retryAfterMs ?? Infinity))
        throw new NoReplyError(pattern, 'a verifier with other settings took the repeated question');
      const endsAtMs = startedAtMs + Math.min(options.timeoutMs, ASKED_AGAIN_FOR_MS);
      // If no verifier has agreed for a while, repeating is useless.
      if (!agreement.isFresh() || performance.now() + pauseMs > endsAtMs) return answer;
      // The pause is random because verifiers take questions in turn: at an even pace the same one would often get the
      // question.
      await sleep(pauseMs * (0.5 + Math.random() / 2));
    }
  }
}

interface AgreementOptions {
  /** This gateway's settings, as `describeSettings` returns them. */
  own: string;
  nowMs?: () => number;
}

/** A gateway is not ready if no verifier has agreed with its settings for this long. */
const AGREED_WITHIN_MS = 10_000;

/** Tracks from the verifiers' answers when one last had the same payment settings as this gateway. */
export class Agreement {
  readonly #nowMs: () => number;
  /** Whether the verifiers take EIP-3009 authorizations of the seller's token, as far as they have told. */
  takesAuthorizations = true;
  #agreedAtMs = Number.NEGATIVE_INFINITY;
  #others = '';

  constructor(private readonly options: AgreementOptions) {
    this.#nowMs = options.nowMs ?? (() => performance.now());
  }

  noteAgreed(): void {
    this.#agreedAtMs = this.#nowMs();
    this.#others = '';
  }

  /** @param settings the verifier's, where these differ */
  noteDiffering(settings = ''): void {
    this.#others = settings;
  }

  isFresh(withinMs = AGREED_WITHIN_MS): boolean {
    return this.#nowMs() - this.#agreedAtMs <= withinMs;
  }

  /** For readiness: rejects with the differing settings if no verifier has agreed recently. */
  async check(): Promise<void> {
    if (this.isFresh()) return;
    const silence = `no verifier has agreed on the payment settings for ${AGREED_WITHIN_MS / 1000} s`;
    if (this.#others === '') throw new Error(silence);
    const differences = findDifferences({ gateway: this.options.own, verifier: this.#others }).map(
      ({ setting, gateway, verifier }) =>
        `${setting} is ${gateway ?? 'unknown'} here and ${verifier ?? 'unknown'} there`,
    );
    throw new Error(`${silence}: ${differences.join(', ')}`);
  }
}

const LOOK_EVERY_MS = 1_000;
/** No check is needed while the last agreement is younger than this. */
const FRESH_MS = 2_000;
const ANSWERS_WITHIN_MS = 2_000;

/** How often the verifiers are asked what they take, which no payment tells. */
const TOLD_EVERY_MS = 10_000;

/** Compares settings with the verifiers while no payment does so, and asks them what they take. */
export class SettingsWatch {
  #toldAtMs = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;
  #isStopped = false;

  constructor(
    private readonly verifiers: Verifiers,
    private readonly agreement: Agreement,
  ) {}

  /** Resolves when the verifiers were asked once; from then on they are asked again and again. */
  async start(): Promise<void> {
    await this.#look();
    if (!this.#isStopped) this.#timer = setTimeout(() => void this.start(), LOOK_EVERY_MS).unref();
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
  }

  async #look(): Promise<void> {
    const isTold = performance.now() - this.#toldAtMs < TOLD_EVERY_MS;
    if (isTold && this.agreement.isFresh(FRESH_MS)) return;
    const options = { timeoutMs: ANSWERS_WITHIN_MS, isTakenBack: true, requestId: 'compare-settings' };
    // If there is no reply, readiness reports it.
    const answer = await this.verifiers.ask(COMPARE_SETTINGS, {}, options).catch(() => null);
    if (answer?.outcome !== 'agreed' || answer.takesAuthorizations === undefined) return;
    this.#toldAtMs = performance.now();
    this.agreement.takesAuthorizations = answer.takesAuthorizations;
  }
}
