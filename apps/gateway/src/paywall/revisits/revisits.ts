import { createFingerprint, hashRetryKey } from '@tollgate/ledger';
import type { Hex } from '@tollgate/protocol';
import { type RedisClient, StoreUnavailableError, withTimeout } from '@tollgate/redis';

import { SIGN_IN_LIFETIME_MS } from '../offer/sign-in-nonces.js';

const ANSWERS_WITHIN_MS = 3_000;
/** The clocks of replicas may differ, so a nonce is remembered for longer than any replica accepts it. */
const NONCE_KEPT_MS = 2 * SIGN_IN_LIFETIME_MS;

/**
 * The paid resource that may be revisited: a path with its query. Only requests that are safe to repeat can be
 * revisited.
 */
export interface RevisitedResource {
  readonly method: string;
  readonly path: string;
  readonly query: string;
}

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

  /** @param payment its name in the ledger; the payer's newest payment counts */
  async remember(
    payer: Hex,
    resource: RevisitedResource,
    { payment, seconds }: { readonly payment: string; readonly seconds: number },
  ): Promise<void> {
    await within(this.redis.set(this.#keyOf(payer, resource), payment, 'EX', seconds));
  }

  /** The name of the payment by which the payer may revisit the resource, or `1` from releases that noted no name. */
  async findPayment(payer: Hex, resource: RevisitedResource): Promise<string | null> {
    return within(this.redis.get(this.#keyOf(payer, resource)));
  }

  /** False if the nonce was used before. */
  async takeNonce(nonce: string): Promise<boolean> {
    const key = `tollgate:sign-in-nonce:${hashRetryKey(nonce)}`;
    return (await within(this.redis.set(key, '1', 'PX', NONCE_KEPT_MS, 'NX'))) === 'OK';
  }

  #keyOf(payer: Hex, { method, path, query }: RevisitedResource): string {
    const resource = createFingerprint({ method, path, query });
    return `tollgate:revisit:${hashRetryKey([this.origin, payer.toLowerCase(), resource].join('\n'))}`;
  }
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
