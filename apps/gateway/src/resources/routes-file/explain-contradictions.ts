import type { ParsedEntry } from '@tollgate/config';

import type { RouteDescription } from './route-description.js';

/** The gateway settings that routes depend on. */
export interface ContradictionContext {
  readonly publicUrl?: string | undefined;
  readonly signedPayments?: boolean;
}

type Contradiction = [key: keyof RouteDescription, message: string];

/** The options of a route that contradict each other or the settings, by the key that has to change. */
export function explainContradictions(
  parsed: ParsedEntry<RouteDescription>,
  context: ContradictionContext,
): Contradiction[] {
  const { description, faulty } = parsed;
  const { metered, revisitSeconds } = description;
  return [
    ...(metered && !faulty.has('metered') ? explainMetered(description, context) : []),
    ...(revisitSeconds > 0 && !faulty.has('revisitSeconds') ? explainRevisits(description, context) : []),
  ];
}

function* explainMetered(
  { answer, settle }: RouteDescription,
  { signedPayments = false }: ContradictionContext,
): Iterable<Contradiction> {
  const why = 'the charge is only known once the response is complete';
  if (answer === 'streamed') yield ['answer', `cannot be "streamed" where metered is true: ${why}`];
  if (settle === 'before') yield ['settle', `cannot be "before" where metered is true: ${why}`];
  if (!signedPayments)
    yield ['metered', 'needs SIGNED_PAYMENTS=true: the payer signs a maximum, and the actual charge is settled'];
}

function* explainRevisits(
  { methods, metered }: RouteDescription,
  { publicUrl, signedPayments = false }: ContradictionContext,
): Iterable<Contradiction> {
  if (Array.isArray(methods) && methods.some((method) => method !== 'GET')) {
    yield ['methods', 'must be [GET] where revisitSeconds is set: no other method may be repeated without payment'];
  }
  if (metered) yield ['revisitSeconds', 'cannot be set where metered is true: each response has its own price'];
  if (!signedPayments)
    yield ['revisitSeconds', 'needs SIGNED_PAYMENTS=true: the PAYMENT-REQUIRED header asks clients to sign in'];
  if (publicUrl === undefined) {
    yield ['revisitSeconds', 'needs PUBLIC_URL: a sign-in is bound to one host, and a client could name any host'];
  }
}
