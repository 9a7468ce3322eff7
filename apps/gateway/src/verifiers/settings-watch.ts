import { Logger } from '@nestjs/common';
import { COMPARE_SETTINGS, RequestFailedError } from '@tollgate/common';

import type { Agreement, Verifiers } from './agreeing-verifiers.js';

const LOOK_EVERY_MS = 1_000;
/** No check is needed while the last agreement is younger than this. */
const FRESH_MS = 2_000;
const ANSWERS_WITHIN_MS = 2_000;

/** Compares settings with the verifiers while no payment does so. */
export class SettingsWatch {
  readonly #logger = new Logger('Verifiers');
  #timer: NodeJS.Timeout | undefined;
  #isStopped = false;
  #hasWarned = false;

  constructor(
    private readonly verifiers: Verifiers,
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
      await this.verifiers.ask(COMPARE_SETTINGS, {}, options);
    } catch (error) {
      // If there is no reply, readiness reports it.
      if (error instanceof RequestFailedError && error.code === 'no_handler') this.#takeForAgreed();
    }
  }

  /**
   * During an update, gateways are replaced first: verifiers of an earlier release serve them, and compare only some
   * settings.
   */
  #takeForAgreed(): void {
    this.agreement.noteAgreed();
    if (!this.#hasWarned)
      this.#logger.warn('a verifier of an earlier release compares only some of the payment settings: update it');
    this.#hasWarned = true;
  }
}
