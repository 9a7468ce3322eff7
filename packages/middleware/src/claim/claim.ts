import type { SettleResponse } from '@tollgate/protocol';

import type { PackedAnswer } from '../answer/answer.js';
import type { PaymentStore } from '../stores/payment-store.js';
import {
  pausedMsOf,
  standingOf,
  ttlMsOf,
  type AskedTerms,
  type ClaimRecord,
  type ClaimTimes,
  type Showing,
  type Standing,
} from './payment-record.js';

/**
 * The exclusive right of one request, across all processes that share a store, to sell for a payment. Every step fails
 * once another request has taken it over. The methods reject if the store is unavailable.
 */
export class Claim {
  /** Serialises the writes, since each replaces the record that the previous one left. */
  #lastWrite: Promise<unknown> = Promise.resolve();
  #text: string | null;

  constructor(
    private readonly store: PaymentStore,
    readonly name: string,
    private record: ClaimRecord,
    private readonly times: ClaimTimes,
  ) {
    this.#text = JSON.stringify(record);
  }

  get leaseMs(): number {
    return this.times.leaseMs;
  }

  get idempotencyKey(): string {
    return this.record.idempotencyKey;
  }

  /** Whether a repeat can prove that it comes from the payer, so that the response may be replayed to it. */
  get isProven(): boolean {
    return this.record.secret !== null;
  }

  /** The facilitator's settlement response, if the payment is known to be settled. */
  get receipt(): SettleResponse | undefined {
    return this.record.receipt;
  }

  /** Whether an earlier request may have settled the payment. */
  get wasAsked(): boolean {
    return this.record.state !== 'claimed';
  }

  /** The terms of the first settlement that was requested; undefined if there was none. */
  get asked(): AskedTerms | undefined {
    return this.record.asked;
  }

  /** What the handler has made for this payment, if it was stored and is not sold yet. */
  get made(): PackedAnswer | undefined {
    return this.record.answer;
  }

  get keepMs(): number {
    return this.times.keepMs;
  }

  /**
   * Must be called before the facilitator is asked to settle. From then on the payment is settled only under this
   * idempotency key and with these terms, also by a request that takes over after a crash, or after the price was lowered.
   * @param made what it is settled for; null: nothing that can be stored
   */
  ask(terms: AskedTerms, made: PackedAnswer | null): Promise<boolean> {
    return this.#write(({ state, asked = terms, ...record }) => ({
      ...record,
      asked,
      state: state === 'settled' ? state : 'settling',
      ...(made && { answer: made }),
    }));
  }

  /** Records that the payment is settled, and its response not delivered. */
  settle(receipt: SettleResponse): Promise<boolean> {
    return this.#write((record) => ({ ...record, state: 'settled', receipt }));
  }

  /**
   * Must be called before the first byte of the response is sent. False if another request has taken over the claim and
   * will respond.
   */
  sell(answer: PackedAnswer | null): Promise<boolean> {
    return this.#write(({ receipt: _, answer: _made, ...record }) => ({
      ...record,
      state: 'sold',
      ...(answer && { answer }),
    }));
  }

  /** The same for a response that is not stored and may be made again, as its connection may break. */
  send(receipt: SettleResponse): Promise<boolean> {
    return this.#write(({ answer: _, ...record }) => ({
      ...record,
      state: 'settled',
      receipt,
      sent: (record.sent ?? 0) + 1,
      leasedUntilMs: 0,
    }));
  }

  /** Whether an earlier response was sent, and not stored. */
  get wasSent(): boolean {
    return this.record.sent !== undefined;
  }

  /** Records that nobody waits for the settlement any more. The owner must have been told. */
  owe(): Promise<boolean> {
    return this.#write(({ answer: _, ...record }) => ({ ...record, state: 'owed', leasedUntilMs: 0 }));
  }

  /**
   * Deletes the record: the payment was not settled and this request will not settle it, so a repeat counts as a new
   * attempt.
   */
  forget(): Promise<boolean> {
    return this.#write(() => null);
  }

  /** Releases the claim. The record of a payment that may have been settled is kept. */
  end(): Promise<boolean> {
    return this.#write((record) => {
      if (record.state === 'claimed') return null;
      return record.state === 'sold' ? record : { ...record, leasedUntilMs: 0 };
    });
  }

  /** Releases the claim, and has the payment buy nothing for a while: what it pays for is busy. */
  async pause(askedMs: number): Promise<boolean> {
    const { nowMs } = await this.store.read(this.name);
    const forMs = Math.min(askedMs, this.times.keepMs);
    return this.#write((record) =>
      record.state === 'sold' ? record : { ...record, leasedUntilMs: 0, pause: { untilMs: nowMs + forMs, forMs } },
    );
  }

  async renew(): Promise<boolean> {
    const { nowMs } = await this.store.read(this.name);
    return this.#write((record) =>
      record.state === 'sold' || record.leasedUntilMs === 0
        ? record
        : { ...record, leasedUntilMs: nowMs + this.times.leaseMs },
    );
  }

  #write(change: (record: ClaimRecord) => ClaimRecord | null): Promise<boolean> {
    const written = this.#lastWrite.then(async () => {
      const record = change(this.record);
      if (record === this.record) return true;
      const text = record && JSON.stringify(record);
      const ttlMs = record === null ? 0 : ttlMsOf(record, this.times);
      const isWritten =
        (await this.store.replace(this.name, this.#text, text, ttlMs)) ||
        ((await this.#readOwn()) && (await this.store.replace(this.name, this.#text, text, ttlMs)));
      if (!isWritten) return false;
      // After the record is deleted, each later step fails, so that nothing is settled for it.
      this.record = record ?? { ...this.record, state: 'claimed', leasedUntilMs: 0 };
      this.#text = text;
      return true;
    });
    this.#lastWrite = written.catch(() => undefined);
    return written;
  }

  /**
   * Whether this request still holds the claim although the write failed: the write may have succeeded and its reply
   * been lost. A record of a possibly settled payment that the store lost can also be written again, since no other
   * request can have taken it over.
   */
  async #readOwn(): Promise<boolean> {
    const { value } = await this.store.read(this.name);
    const { owner, state } = this.record;
    if (value === null ? state === 'claimed' : (JSON.parse(value) as ClaimRecord).owner !== owner) return false;
    this.#text = value;
    return true;
  }
}

/** The standing of a presented payment, and the version of the record that it is based on. */
export interface Look {
  readonly showing: Showing;
  readonly standing: Standing;
  /** How long a `paused` payment is so yet. */
  readonly pausedMs: number;
  readonly text: string | null;
  readonly record: ClaimRecord | null;
}

/** Claims payments in the store. The methods reject if the store is unavailable. */
export class PaymentClaims {
  constructor(
    private readonly store: PaymentStore,
    private readonly times: ClaimTimes,
  ) {}

  get keepMs(): number {
    return this.times.keepMs;
  }

  async look(showing: Showing): Promise<Look> {
    const { value: text, nowMs } = await this.store.read(showing.name);
    const record = text === null ? null : (JSON.parse(text) as ClaimRecord);
    const standing = standingOf(record, showing, nowMs);
    const pausedMs = standing === 'paused' && record !== null ? pausedMsOf(record, nowMs) : 0;
    return { showing, standing, pausedMs, text, record };
  }

  /** Claims a payment with the standing `open` or `own`; null if another request was faster. */
  async claim({ showing, standing, text, record }: Look): Promise<Claim | null> {
    const { nowMs } = await this.store.read(showing.name);
    const { name, request, secret } = showing;
    const held = { owner: crypto.randomUUID(), leasedUntilMs: nowMs + this.times.leaseMs };
    const claimed: ClaimRecord =
      standing === 'own' && record !== null
        ? // Keeps the record's secret: otherwise a client that has only seen the payment could lock out its payer.
          { ...record, ...held, pause: undefined }
        : { state: 'claimed', idempotencyKey: crypto.randomUUID(), request, secret, ...held };
    const isClaimed = await this.store.replace(name, text, JSON.stringify(claimed), ttlMsOf(claimed, this.times));
    return isClaimed ? new Claim(this.store, name, claimed, this.times) : null;
  }
}
