import type { RpcAsker, SearchAsker } from '@tollgate/chain';

import { NotJudged } from '../refusals.js';

export interface ClientSharesOptions {
  /** Look-ups per minute that may end in a refusal or find nothing; 0 sets no limit. */
  lookupsPerMinute: number;
  /** Bytes per minute beyond the usual size of answers; 0 sets no limit. */
  bytesPerMinute: number;
  /** A clock that is never set back; by default this process's own. */
  nowMs?: () => number;
}

/** The outcome of a request, in the words of verdicts. */
export interface Ended {
  outcome: string;
  failure?: string;
  reason?: string;
}

interface Spent {
  lookups: number;
  bytes: number;
  atMs: number;
}

/** Outcomes that cost a client nothing, and those that did not find what was asked for. */
const [GOOD, VAIN] = [new Set(['claimed', 'valid', 'signed', 'paid']), new Set(['not_signed', 'not_paid'])];
const MINUTE_MS = 60_000;
const MAX_CLIENTS = 10_000;
/** Answers up to this size are not counted; that of an ordinary payment has a quarter of it. */
const FREE_BYTES = 16_384;
/** From this part of its share on, a client's look-ups are batched separately. */
const COSTLY_PART = 1 / 16;

/**
 * Limits how much each client address may have the chain asked in vain per minute; good payments cost nothing. A client
 * over its share gets no refusal but `unavailable`, since a payment that was not looked at may be good.
 */
export class ClientShares {
  readonly counts = { over_share: 0 };
  /** In order of the last charge, the latest at the end. */
  readonly #spent = new Map<string, Spent>();

  readonly #nowMs: () => number;

  constructor(private readonly options: ClientSharesOptions) {
    this.#nowMs = options.nowMs ?? (() => performance.now());
  }

  begin(client: string): LookUps {
    return new LookUps(this, client);
  }

  isCostly(client: string): boolean {
    const { bytesPerMinute } = this.options;
    return bytesPerMinute > 0 && this.#readSpent(client).bytes > bytesPerMinute * COSTLY_PART;
  }

  /** Milliseconds until the client has some of its share left. */
  waitMs(client: string): number {
    const { lookupsPerMinute, bytesPerMinute } = this.options;
    const { lookups, bytes } = this.#readSpent(client);
    const waitMs = Math.ceil(Math.max(overMs(lookups + 1, lookupsPerMinute), overMs(bytes, bytesPerMinute)));
    if (waitMs > 0) this.counts.over_share++;
    return waitMs;
  }

  charge(client: string, { lookups, bytes }: Pick<Spent, 'lookups' | 'bytes'>): void {
    const spent = this.#readSpent(client);
    this.#spent.delete(client);
    this.#spent.set(client, {
      lookups: Math.min(spent.lookups + lookups, this.options.lookupsPerMinute),
      // A long answer requested over many connections at once costs one minute at most.
      bytes: Math.min(spent.bytes + bytes, this.options.bytesPerMinute * 2),
      atMs: this.#nowMs(),
    });
    const [idlest] = this.#spent.keys();
    if (this.#spent.size > MAX_CLIENTS && idlest !== undefined) this.#spent.delete(idlest);
  }

  #readSpent(client: string): Pick<Spent, 'lookups' | 'bytes'> {
    const spent = this.#spent.get(client);
    if (spent === undefined) return { lookups: 0, bytes: 0 };
    const { lookupsPerMinute, bytesPerMinute } = this.options;
    const part = (this.#nowMs() - spent.atMs) / MINUTE_MS;
    return {
      lookups: Math.max(0, spent.lookups - part * lookupsPerMinute),
      bytes: Math.max(0, spent.bytes - part * bytesPerMinute),
    };
  }
}

/** The look-ups of one request, charged to its client's share. */
export class LookUps implements RpcAsker, SearchAsker {
  #bytes = 0;
  #isCounted = false;
  #inVain = 0;

  constructor(
    private readonly shares: ClientShares,
    private readonly client: string,
  ) {}

  get isCostly(): boolean {
    return this.shares.isCostly(this.client);
  }

  answered(bytes: number): void {
    this.#bytes += Math.max(0, bytes - FREE_BYTES);
  }

  /**
   * Call before the chain is asked for something that may be expensive. @throws NotJudged for a client over
   * its share
   */
  assertLeft(): void {
    const retryAfterMs = this.shares.waitMs(this.client);
    if (retryAfterMs > 0) {
      const message =
        'This client has used up its share of look-ups that end in a refusal or find nothing. Retry later.';
      throw new NotJudged('client_share_used_up', message, { retryAfterMs });
    }
    this.#isCounted = true;
  }

  /** @param lookups as how many it counts */
  foundNothing(lookups = 1): void {
    this.#inVain = Math.max(this.#inVain, lookups);
  }

  end({ outcome, failure, reason }: Ended): void {
    if (GOOD.has(outcome)) return;
    // A payment that was used may be shown again, and its answer is long only if the payer made it so.
    const isInVain = this.#inVain > 0 || VAIN.has(outcome) || (outcome === 'refused' && failure !== 'payment_used');
    const isLookup = this.#isCounted && (isInVain || reason === 'waiting_room_full');
    if (isLookup || this.#bytes > 0) {
      this.shares.charge(this.client, { lookups: isLookup ? Math.max(this.#inVain, 1) : 0, bytes: this.#bytes });
    }
  }
}

function overMs(spent: number, perMinute: number): number {
  return perMinute === 0 ? 0 : ((spent - perMinute) / perMinute) * MINUTE_MS;
}
