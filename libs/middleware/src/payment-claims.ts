import { Claim } from './claim.js';
import {
  standingOf,
  ttlMsOf,
  type ClaimTimes,
  type PaymentRecord,
  type Showing,
  type Standing,
} from './payment-record.js';
import type { PaymentStore } from './payment-store.js';

/** What is known of a payment that was shown, and of which version of its record that is said. */
export interface Look {
  readonly standing: Standing;
  readonly text: string | null;
  readonly record: PaymentRecord | null;
}

/** The payments that are being sold for, and those that were. The methods reject where the store cannot be asked. */
export class PaymentClaims {
  constructor(
    private readonly store: PaymentStore,
    private readonly times: ClaimTimes,
  ) {}

  async look(showing: Showing): Promise<Look> {
    const { value: text, nowMs } = await this.store.read(showing.name);
    const record = text === null ? null : (JSON.parse(text) as PaymentRecord);
    return { standing: standingOf(record, showing, nowMs), text, record };
  }

  /** For a payment that is `open` or `own`; null where another request was faster. */
  async claim(showing: Showing, { standing, text, record }: Look): Promise<Claim | null> {
    const { nowMs } = await this.store.read(showing.name);
    const { name, request, secret } = showing;
    const held = { owner: crypto.randomUUID(), leasedUntilMs: nowMs + this.times.leaseMs };
    const claimed: PaymentRecord =
      standing === 'own' && record !== null
        ? // With its secret: else who has only seen the payment could shut its payer out while it is under way.
          { ...record, ...held }
        : { state: 'claimed', idempotencyKey: crypto.randomUUID(), request, secret, ...held };
    const isClaimed = await this.store.replace(name, text, JSON.stringify(claimed), ttlMsOf(claimed, this.times));
    return isClaimed ? new Claim(this.store, name, claimed, this.times) : null;
  }
}
