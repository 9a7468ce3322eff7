import { X_PAYMENT_RELEASED } from '@tollgate/protocol';

/** An answer of the gate, in place of what the handler would make: its own, or one that was sold and stored. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly body: string | Uint8Array<ArrayBuffer>;
}

/** JSON that nobody keeps: a 402 is for one request. */
export function createAnswer(status: number, body: object, headers: Readonly<Record<string, string>> = {}): Answer {
  return {
    status,
    headers: { 'Content-Type': 'application/json', 'Cache-Control': 'no-store', ...headers },
    body: JSON.stringify(body),
  };
}

/** Nothing is decided: the same request, with the same payment, is to be sent again. */
export function createRetryAnswer(
  status: 409 | 503,
  error: string,
  headers: Readonly<Record<string, string>> = {},
): Answer {
  return createAnswer(status, { error }, { 'Retry-After': '2', ...headers });
}

/** Nothing was moved and nothing will be until who runs this server has mended it: no use in coming back at once. */
export function createRefusedAnswer(): Answer {
  const detail =
    'The facilitator of this server refuses to serve it. Nothing was paid: the same payment is good once that is mended.';
  return createAnswer(500, { error: 'facilitator_refused', detail }, { [X_PAYMENT_RELEASED]: 'true' });
}

/** What was paid for is nobody else's: shared caches may not keep it. */
export function keepPrivate(cacheControl: string | null | undefined): string {
  const directives = (cacheControl ?? '').split(',').map((directive) => directive.trim());
  const kept = directives.filter(
    (directive) => directive !== '' && !/^(?:public|private|s-maxage=.*)$/i.test(directive),
  );
  return ['private', ...kept].join(', ');
}
