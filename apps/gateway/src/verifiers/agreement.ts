import { findDifferences } from '@tollgate/common';

export interface AgreementOptions {
  /** As `describeSettings` has those of this gateway. */
  own: string;
  nowMs?: () => number;
}

/** A gateway that no verifier has agreed with for so long is not ready. */
const AGREED_WITHIN_MS = 10_000;

/** When a verifier last was set up for the same payments as this gateway, as its answers tell. */
export class Agreement {
  readonly #nowMs: () => number;
  #agreedAtMs = Number.NEGATIVE_INFINITY;
  #others = '';

  constructor(private readonly options: AgreementOptions) {
    this.#nowMs = options.nowMs ?? (() => performance.now());
  }

  noteAgreed(): void {
    this.#agreedAtMs = this.#nowMs();
    this.#others = '';
  }

  /** @param settings of the verifier; one of an earlier release does not say */
  noteDiffering(settings: string | undefined): void {
    this.#others = settings ?? '';
  }

  isFresh(withinMs = AGREED_WITHIN_MS): boolean {
    return this.#nowMs() - this.#agreedAtMs <= withinMs;
  }

  /** For readiness: rejects where no verifier has agreed lately, and says what differed. */
  async check(): Promise<void> {
    if (this.isFresh()) return;
    const silence = `no verifier has agreed on the payment settings for ${AGREED_WITHIN_MS / 1000} s`;
    if (this.#others === '') throw new Error(silence);
    const told = findDifferences({ gateway: this.options.own, verifier: this.#others }).map(
      ({ setting, gateway, verifier }) =>
        `${setting} is ${gateway ?? 'unknown'} here and ${verifier ?? 'unknown'} there`,
    );
    throw new Error(`${silence}: ${told.join(', ')}`);
  }
}
