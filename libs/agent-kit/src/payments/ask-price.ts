import { assertSecureUrl, readChallenge } from '@tollgate/client';
import type { PaymentChallenge } from '@tollgate/protocol';

import { AgentKitError } from '../agent-kit-error.js';
import { cleanUntrusted } from '../tokens/untrusted-text.js';
import { explainUnpaid } from './explain-payment-error.js';

/**
 * The URL as it will be asked for.
 * @throws AgentKitError `INVALID_INPUT` for what is no URL, holds a password, or is not secure.
 */
export function parseResourceUrl(text: string, allowInsecureHttp: boolean): string {
  const refuse = (why: string) => new AgentKitError('INVALID_INPUT', `The URL ${why}.`, { details: { url: text } });
  if (!URL.canParse(text)) throw refuse('is no URL');
  const url = new URL(text);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') throw refuse('is not of http or https');
  if (url.username !== '' || url.password !== '') throw refuse('must not hold a user name or a password');
  url.hash = '';
  try {
    assertSecureUrl(url.href, allowInsecureHttp);
  } catch (error) {
    throw explainUnpaid(error);
  }
  return url.href;
}

/**
 * Asks without a payment. Follows no redirect, reads at most 64 KiB, waits `timeoutMs` at most.
 * @throws AgentKitError `PAYMENT_FAILED` when the answer is no challenge, `NETWORK_ERROR` when there is none.
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
      suggestion: 'Nothing was paid. Ask only for URLs that cost something, and for the final URL of a redirect.',
    });
  } catch (error) {
    throw explainUnpaid(error, url);
  }
}

function describe({ status, headers }: Response): string {
  const location = headers.get('location');
  return location === null ? String(status) : `${status}, a redirect to ${cleanUntrusted(location, 200)}`;
}
