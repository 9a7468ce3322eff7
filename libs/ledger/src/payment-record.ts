import { isBaseUnits } from '@tollgate/protocol';

/**
 * The ledger's record of one payment, in two short fields of its entry: under the slot
 * `state,epoch,generation,releases,reproductions,atMs,untilMs,owner`, and under `<slot>:by` the request it is for,
 * `fingerprint,retryKey`. Neither exceeds 64 bytes, above which Redis leaves its compact encoding and takes twice the
 * memory. A metered payment also has `<slot>:amount`, with the generation that fixed it under `<slot>:fixer`; a signed
 * one whose answer was not kept has `<slot>:receipt`. `<slot>:open` is the generation whose retry key reserves nothing.
 * `<slot>:pauses` counts how often its upstream was busy. `<slot>:told`: the book knows that it was released; `<slot>:refund:<name>`: it knows of this refund. `<slot>:closer` is
 * the refund that closed the payment, and `<slot>:closed:<name>` since when it is closed for this one.
 */
export interface PaymentRecord {
  state: 'leased' | 'answered' | 'done' | 'released' | 'refunding';
  /** The bucket's epoch when the payment was claimed; a possible loss of data starts a new epoch. */
  epoch: number;
  generation: number;
  /** The number of counted releases. */
  releases: number;
  reproductions: number;
  /** When the state was reached, on Redis's clock. */
  atMs: number;
  /** End of the lease, or of the pause after a busy upstream; null without either. */
  untilMs: number | null;
  /** The present or last holder of the lease; null once it is closed for a refund. */
  owner: string | null;
  fingerprint: string;
  retryKey: string | null;
}

const STATES = { L: 'leased', A: 'answered', D: 'done', R: 'released', F: 'refunding' } as const;
const LINE = /^([LADRF]),(\d+),(\d+),(\d+),(\d+),(\d+),(\d*),([\w-]*)$/;
const BY = /^([\w-]+),([\w-]*)$/;

/** Parses a record from its two fields; null when they are not one. */
export function readRecord(line: string, by: string): PaymentRecord | null {
  const [parts, request] = [LINE.exec(line), BY.exec(by)];
  if (!parts || !request) return null;
  const [, letter, epoch, generation, releases, reproductions, atMs, untilMs, owner] = parts;
  const [, fingerprint, retryKey] = request;
  return {
    state: STATES[letter as keyof typeof STATES],
    epoch: Number(epoch),
    generation: Number(generation),
    releases: Number(releases),
    reproductions: Number(reproductions),
    atMs: Number(atMs),
    untilMs: untilMs ? Number(untilMs) : null,
    owner: owner || null,
    fingerprint: fingerprint ?? '',
    retryKey: retryKey || null,
  };
}

/** Base units as Redis has them: null without them, and for a text that is no amount. */
export function readRecordedBaseUnits(text: string | undefined): string | null {
  return isBaseUnits(text) ? text : null;
}

/** All records of an entry, by slot. */
export function readRecords(fields: Record<string, string>): [slot: string, record: PaymentRecord][] {
  return Object.entries(fields).flatMap(([slot, line]): [string, PaymentRecord][] => {
    const record = slot.endsWith(':by') ? null : readRecord(line, fields[`${slot}:by`] ?? '');
    return record ? [[slot, record]] : [];
  });
}
