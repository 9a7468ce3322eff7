import type { PaymentRequiredV2 } from '@tollgate/protocol';

import { cutAtMarks, toAsciiJson } from './ascii-json.js';

/**
 * The payment-required header of an offer with several marks: its text is rendered once and assembled for each
 * challenge.
 */
export class RequiredTemplate {
  /** As `cutAtMarks` gives them. */
  readonly #pieces: readonly string[];

  constructor(offer: PaymentRequiredV2) {
    this.#pieces = cutAtMarks(offer);
  }

  /** @param values one for every mark */
  render(values: Readonly<Record<string, string>>, error: string | undefined): string {
    let text = '';
    for (const [at, piece] of this.#pieces.entries()) {
      text += at % 2 === 0 ? piece : toAsciiJson(values[piece] ?? '');
    }
    return btoa(error === undefined ? `${text}}` : `${text},"error":${toAsciiJson(error)}}`);
  }
}
