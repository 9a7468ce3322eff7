import type { PaymentStore } from '../stores/payment-store.js';
import { Claim } from './claim.js';
import {
  standingOf,
  ttlMsOf,
  type ClaimTimes,
  type ClaimRecord,
  type Showing,
  type Standing,
} from './payment-record.js';

/** The standing of a presented payment, and the version of the record that it is based on. */
export interface Look {
  readonly showing: Showing;
  readonly standing: Standing;
  readonly text: string | null;
  readonly record: ClaimRecord | null;
}

/** Claims payments in the store. The methods reject if the store is unavailable. */
export class PaymentClaims {
  constructor(
    private readonly store: PaymentStore,
    private readonly times: ClaimTimes,
  ) {}

  async look(showing: Showing): Promise<Look> {
    const { value: text, nowMs } = await this.store.read(showing.name);
    const record = text === null ? null : (JSON.parse(text) as ClaimRecord);
    return { showing, standing: standingOf(record, showing, nowMs), text, record };
  }

  /** Claims a payment with the standing `open` or `own`; null if another request was faster. */
  async claim({ showing, standing, text, record }: Look): Promise<Claim | null> {
    const { nowMs } = await this.store.read(showing.name);
    const { name, request, secret } = showing;
    const held = { owner: crypto.randomUUID(), leasedUntilMs: nowMs + this.times.leaseMs };
    const claimed: ClaimRecord =
      standing === 'own' && record !== null
        ? // Keeps the record's secret: otherwise a client that has only seen the payment could lock out its payer.
          { ...record, ...held }
        : { state: 'claimed', idempotencyKey: crypto.randomUUID(), request, secret, ...held };
    const isClaimed = await this.store.replace(name, text, JSON.stringify(claimed), ttlMsOf(claimed, this.times));
    return isClaimed ? new Claim(this.store, name, claimed, this.times) : null;
  }
}
