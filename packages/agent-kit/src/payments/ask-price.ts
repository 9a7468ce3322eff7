import { assertSecureUrl, readChallenge } from '@tollgate/client';
import type { PaymentChallenge } from '@tollgate/protocol';

import { AgentKitError } from '../types/agent-kit-error.js';
import { cleanUntrusted } from '../types/untrusted-text.js';
import { explainUnpaid } from './explain-payment-error.js';

/**
 * The normalised URL of the request.
 * @throws AgentKitError `INVALID_INPUT` for an invalid or insecure URL, or one that contains a password.
 */
export function parseResourceUrl(text: string, allowInsecureHttp: boolean): string {
  const refuse = (why: string) => new AgentKitError('INVALID_INPUT', `The URL ${why}.`, { details: { url: text } });
  if (!URL.canParse(text)) throw refuse('is invalid');
  const url = new URL(text);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') throw refuse('is not an http or https URL');
  if (url.username !== '' || url.password !== '') throw refuse('must not contain a user name or a password');
  url.hash = '';
  try {
    assertSecureUrl(url.href, allowInsecureHttp);
  } catch (error) {
    throw explainUnpaid(error);
  }
  return url.href;
}

/**
 * Requests the resource without a payment. Follows no redirect, reads at most 64 KiB, waits `timeoutMs` at most.
 * @throws AgentKitError `PAYMENT_FAILED` when the answer is not a challenge, `NETWORK_ERROR` when there is none.
 */
export async function askPrice(
  fetch: typeof globalThis.fetch,
  url: string,
  timeoutMs: number,
): Promise<PaymentChallenge> {
  try {
    const response = await fetch(url, { redirect: 'manual', signal: AbortSignal.timeout(timeoutMs) });
    if (response.status === 402) return await readChallenge(response);
    response.body?.cancel().catch(() => undefined);
    throw new AgentKitError('PAYMENT_FAILED', `Expected 402 Payment Required, got ${describe(response)}.`, {
      details: { status: response.status },
      suggestion:
        'Nothing was paid. Use this only for URLs that require a payment, and use the final URL of a redirect.',
    });
  } catch (error) {
    throw explainUnpaid(error, url);
  }
}

function describe({ status, headers }: Response): string {
  const location = headers.get('location');
  return location === null ? String(status) : `${status}, a redirect to ${cleanUntrusted(location, 200)}`;
}
