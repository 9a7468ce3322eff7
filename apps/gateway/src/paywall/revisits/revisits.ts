import { randomBytes } from 'node:crypto';

import { hashRetryKey } from '@tollgate/ledger';
import type { Hex } from '@tollgate/protocol';
import { type RedisClient, StoreUnavailableError, withTimeout } from '@tollgate/redis';

import { SIGN_IN_LIFETIME_MS } from '../offer/sign-in-nonces.js';

const ANSWERS_WITHIN_MS = 3_000;
/** Of one payer for one resource: where one is paid back, another may still permit revisits. */
const MOST_PAYMENTS = 4;
/** The clocks of replicas may differ, so a nonce is remembered for longer than any replica accepts it. */
const NONCE_KEPT_MS = 2 * SIGN_IN_LIFETIME_MS;

/**
 * Remembers in Redis which payer paid for which resource while it may revisit it, and which sign-in nonces were used.
 * Every entry expires.
 * Each operation throws StoreUnavailableError if Redis is unavailable.
 */
export class Revisits {
  /** @param origin distinguishes several gateways that share one Redis */
  constructor(
    private readonly redis: RedisClient,
    private readonly origin: string,
  ) {}

  /**
   * @param resource the fingerprint of the requests that may revisit it
   * @param payment its name in the ledger; the payer's last few payments are kept
   */
  async remember(
    payer: Hex,
    resource: string,
    { payment, seconds }: { readonly payment: string; readonly seconds: number },
  ): Promise<void> {
    const key = this.#keyOf(payer, resource);
    const nowMs = Date.now();
    const earlier = readRights(await within(this.redis.get(key)), nowMs).filter(({ name }) => name !== payment);
    const rights = [{ name: payment, untilMs: nowMs + seconds * 1000 }, ...earlier].slice(0, MOST_PAYMENTS);
    const untilMs = Math.max(...rights.map((right) => right.untilMs));
    const value = rights.map((right) => `${right.name}@${right.untilMs}`).join(' ');
    await within(this.redis.set(key, value, 'PX', untilMs - nowMs));
  }

  /** The names of the payments by which the payer may revisit the resource. */
  async findPayments(payer: Hex, resource: string): Promise<string[]> {
    const stored = await within(this.redis.get(this.#keyOf(payer, resource)));
    return readRights(stored, Date.now()).map(({ name }) => name);
  }

  /** False if the nonce was used before. */
  async takeNonce(nonce: string): Promise<boolean> {
    const key = `tollgate:sign-in-nonce:${hashRetryKey(nonce)}`;
    // The driver sends it again when the reply is lost: it then finds its own attempt.
    const attempt = randomBytes(9).toString('base64url');
    const first = await within(this.redis.set(key, attempt, 'PX', NONCE_KEPT_MS, 'NX', 'GET'));
    return first === null || first === attempt;
  }

  #keyOf(payer: Hex, resource: string): string {
    return `tollgate:revisit:${hashRetryKey([this.origin, payer.toLowerCase(), resource].join('\n'))}`;
  }
}

/** A payment's name, and until when it permits revisits. */
interface Right {
  readonly name: string;
  readonly untilMs: number;
}

/** Reads `<name>@<until ms>`, separated by spaces. */
function readRights(stored: string | null, nowMs: number): Right[] {
  const parts = stored === null ? [] : stored.split(' ').map((part) => part.split('@'));
  return parts
    .map(([name = '', untilMs]) => ({ name, untilMs: Number(untilMs) }))
    .filter(({ untilMs }) => untilMs > nowMs);
}

async function within<T>(work: Promise<T>): Promise<T> {
  try {
    return await withTimeout(work, ANSWERS_WITHIN_MS);
  } catch (error) {
    throw new StoreUnavailableError('ledger', 'The Redis that remembers payers for revisits is unavailable.', {
      cause: error,
    });
  }
}
