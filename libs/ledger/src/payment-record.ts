/**
 * What the ledger keeps of one payment, as one comma-separated line (scripts/record.lua.ts reads and writes the same):
 * `state,epoch,generation,releases,reproductions,atMs,untilMs,owner,fingerprint,retryKey`.
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
  owner: string | null;
  fingerprint: string;
  retryKey: string | null;
}

const LETTERS = { leased: 'L', answered: 'A', done: 'D', released: 'R' } as const;
const STATES = { L: 'leased', A: 'answered', D: 'done', R: 'released' } as const;
const LINE = /^([LADR]),(\d+),(\d+),(\d+),(\d+),(\d+),(\d*),([\w-]*),([\w-]*),([\w-]*)$/;

/** Writes a record as its line. */
export function encodeRecord(record: PaymentRecord): string {
  return [
    LETTERS[record.state],
    record.epoch,
    record.generation,
    record.releases,
    record.reproductions,
    record.atMs,
    record.untilMs ?? '',
    record.owner ?? '',
    record.fingerprint,
    record.retryKey ?? '',
  ].join(',');
}

/** Reads a record's line; null when it is none. */
export function readRecord(line: string): PaymentRecord | null {
  const parts = LINE.exec(line);
  if (!parts) return null;
  const [, letter, epoch, generation, releases, reproductions, atMs, untilMs, owner, fingerprint, retryKey] = parts;
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
