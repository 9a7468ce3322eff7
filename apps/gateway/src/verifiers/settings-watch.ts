import { Logger } from '@nestjs/common';
import { COMPARE_SETTINGS, RequestFailedError, type SettingsComparison } from '@tollgate/common';

import type { AgreeingVerifiers } from './agreeing-verifiers.js';
import type { Agreement } from './agreement.js';

const LOOK_EVERY_MS = 1_000;
/** With verdicts younger than that there is nothing to ask. */
const FRESH_MS = 2_000;
const ANSWERS_WITHIN_MS = 2_000;

/** Asks the verifiers whether they agree while no payment does. */
export class SettingsWatch {
  readonly #logger = new Logger('Verifiers');
  #timer: NodeJS.Timeout | undefined;
  #isStopped = false;
  #hasWarned = false;

  constructor(
    private readonly verifiers: AgreeingVerifiers,
    private readonly agreement: Agreement,
  ) {}

  start(): void {
    void this.#look().finally(() => {
      if (!this.#isStopped) this.#timer = setTimeout(() => this.start(), LOOK_EVERY_MS).unref();
    });
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
  }

  async #look(): Promise<void> {
    if (this.agreement.isFresh(FRESH_MS)) return;
    const options = { timeoutMs: ANSWERS_WITHIN_MS, isTakenBack: true, requestId: 'compare-settings' };
    try {
      await this.verifiers.ask<SettingsComparison, object>(COMPARE_SETTINGS, {}, options);
    } catch (error) {
      // No reply: readiness tells of it.
      if (error instanceof RequestFailedError && error.code === 'no_handler') this.#takeForAgreed();
    }
  }

  /** During an update gateways come first: verifiers of an earlier release serve them, and compare some settings alone. */
  #takeForAgreed(): void {
    this.agreement.noteAgreed();
    if (!this.#hasWarned) this.#logger.warn('a verifier of an earlier release compares not all settings: update it');
    this.#hasWarned = true;
  }
}
