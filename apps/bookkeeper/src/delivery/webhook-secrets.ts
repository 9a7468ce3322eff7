import { Inject, Injectable } from '@nestjs/common';
import { deriveWebhookSecret } from '@tollgate/common';

import { BookkeeperEnvironment } from '../config/bookkeeper.config.js';

/** The secrets that sign what is posted to webhook targets. They are derived from the key of the closings. */
@Injectable()
export class WebhookSecrets {
  readonly #key: string;

  constructor(@Inject(BookkeeperEnvironment) { book }: BookkeeperEnvironment) {
    this.#key = book.bookSigningKey.replace(/^0x/i, '').toLowerCase();
  }

  of(targetId: string): string {
    return deriveWebhookSecret(this.#key, targetId);
  }
}
