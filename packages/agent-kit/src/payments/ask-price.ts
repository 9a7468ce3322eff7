import { assertSecureUrl, readOffers, type Offers } from '@tollgate/client/internal';

import { AgentKitError } from '../types/agent-kit-error.js';
import type { OwnHeaders, PricedRequest } from '../types/plan.js';
import { cleanUntrusted } from '../types/untrusted-text.js';
import { explainUnpaid } from './explain-payment-error.js';
import { createInit } from './priced-request.js';
import { readServerReason } from './read-answer.js';

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

export interface PriceQuestion {
  timeoutMs: number;
  /** As the client that will pay: true where its store is volatile. Default false. */
  prefersSignatures?: boolean;
  headers?: OwnHeaders | undefined;
}

/**
 * Requests the resource without a payment, and reads the offers of its 402, preferred ones first. Follows no redirect,
 * reads at most 64 KiB, waits `timeoutMs` at most.
 * @throws AgentKitError `PAYMENT_FAILED` when the answer is not a challenge, `NETWORK_ERROR` when there is none.
 */
export async function askPrice(
  fetch: typeof globalThis.fetch,
  request: PricedRequest,
  { timeoutMs, prefersSignatures = false, headers }: PriceQuestion,
): Promise<Offers> {
  const { url } = request;
  try {
    const init = createInit(request, headers);
    const response = await fetch(url, { ...init, signal: AbortSignal.timeout(timeoutMs) });
    const sendsAuthorization = init.headers.has('authorization');
    const terms = { timeoutMs, prefersSignatures, sendsAuthorization };
    if (response.status === 402) return await readOffers(response, terms);
    const reason = response.status >= 400 ? await readServerReason(response, timeoutMs) : '';
    response.body?.cancel().catch(() => undefined);
    throw new AgentKitError('PAYMENT_FAILED', `Expected 402 Payment Required, got ${describe(response)}${reason}.`, {
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
