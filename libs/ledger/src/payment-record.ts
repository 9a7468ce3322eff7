/**
 * What the ledger keeps of one payment, as two short fields of its entry: under the slot
 * `state,epoch,generation,releases,reproductions,atMs,untilMs,owner`, under `<slot>:by` the request it is for,
 * `fingerprint,retryKey`. Neither passes 64 bytes, above which Redis gives up its compact form and takes twice as much.
 * A metered payment has `<slot>:amount` besides, with the generation that fixed it under `<slot>:fixer`; a signed one
 * whose answer was not kept `<slot>:receipt`.
 */
export interface PaymentRecord {
  state: 'leased' | 'answered' | 'done' | 'released';
  /** The bucket's epoch when the payment was claimed; a loss of data starts a new one. */
  epoch: number;
  generation: number;
  /** How often the payment was given back uncharged, of those that count. */
  releases: number;
  reproductions: number;
  /** When the state was reached, on Redis's clock. */
  atMs: number;
  /** End of the lease; null when there is none. */
  untilMs: number | null;
  /** Who holds the lease, or held it last; null where a retry key answers that owner's question. */
  owner: string | null;
  fingerprint: string;
  retryKey: string | null;
}

const LETTERS = { leased: 'L', answered: 'A', done: 'D', released: 'R' } as const;
const STATES = { L: 'leased', A: 'answered', D: 'done', R: 'released' } as const;
const LINE = /^([LADR]),(\d+),(\d+),(\d+),(\d+),(\d+),(\d*),([\w-]*)$/;
const BY = /^([\w-]+),([\w-]*)$/;

/** Writes a record as its two fields. */
export function encodeRecord(record: PaymentRecord): { line: string; by: string } {
  const line = [
    LETTERS[record.state],
    record.epoch,
    record.generation,
    record.releases,
    record.reproductions,
    record.atMs,
    record.untilMs ?? '',
    record.owner ?? '',
  ].join(',');
  return { line, by: `${record.fingerprint},${record.retryKey ?? ''}` };
}

/** Reads a record from its two fields; null when they are none. */
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

/** Reads all records of an entry, by slot. */
export function readRecords(fields: Record<string, string>): [slot: string, record: PaymentRecord][] {
  return Object.entries(fields).flatMap(([slot, line]): [string, PaymentRecord][] => {
    const record = slot.endsWith(':by') ? null : readRecord(line, fields[`${slot}:by`] ?? '');
    return record ? [[slot, record]] : [];
  });
}
