import { findDifferences } from '@tollgate/common';

export interface AgreementOptions {
  /** This gateway's settings, as `describeSettings` returns them. */
  own: string;
  nowMs?: () => number;
}

/** A gateway is not ready if no verifier has agreed with its settings for this long. */
const AGREED_WITHIN_MS = 10_000;

/** Tracks from the verifiers' answers when one last had the same payment settings as this gateway. */
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

  /** @param settings the verifier's; a verifier of an earlier release does not report them */
  noteDiffering(settings: string | undefined): void {
    this.#others = settings ?? '';
  }

  isFresh(withinMs = AGREED_WITHIN_MS): boolean {
    return this.#nowMs() - this.#agreedAtMs <= withinMs;
  }

  /** For readiness: rejects with the differing settings if no verifier has agreed recently. */
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
