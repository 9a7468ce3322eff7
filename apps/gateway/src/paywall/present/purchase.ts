import type { IncomingHttpHeaders } from 'node:http';

import { createFingerprint, hashRetryKey } from '@tollgate/ledger';

import type { Purchase } from './parse-purchase.js';

export interface Caller {
  readonly requestId: string;
  readonly clientAddress: string;
  readonly fingerprint: string;
}

/** A purchase with the parts of the request that its resource receives. */
export interface Order {
  readonly purchase: Purchase;
  readonly caller: Caller;
  readonly params: Readonly<Record<string, string>>;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer | null;
}

export function fingerprintOf({ method, path, query }: Purchase, body: Buffer | null): string {
  return createFingerprint({ method, path, query, ...(body === null ? {} : { body }) });
}

/** The key that identifies a repeat of this purchase; null where a repeat cannot be distinguished from a stolen payment. */
export function retryKeyOf({ retryKey, reference }: Purchase): string | null {
  return retryKey ?? (reference === null ? null : hashRetryKey(reference.text));
}

/** Identifies a payment in the log. */
export function paymentFactsOf({ instrument }: Purchase): { txHash: string } | { payer: string; nonce: string } {
  switch (instrument.kind) {
    case 'transaction':
      return { txHash: instrument.txHash };
    case 'authorization':
      return { payer: instrument.authorization.from, nonce: instrument.authorization.nonce };
    case 'permit2':
      return { payer: instrument.permit2Authorization.from, nonce: instrument.permit2Authorization.nonce };
  }
}
