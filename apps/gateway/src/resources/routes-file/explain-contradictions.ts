import type { ParsedDescription } from './parse-route-descriptions.js';
import type { RouteDescription } from './route-description.js';

/** What of the gateway's settings routes depend on. */
export interface ContradictionContext {
  readonly publicUrl?: string | undefined;
  readonly signedPayments?: boolean;
}

type Contradiction = [key: keyof RouteDescription, message: string];

/** What a route says that does not go together, by the key that has to change. */
export function explainContradictions(parsed: ParsedDescription, context: ContradictionContext): Contradiction[] {
  const { description, faulty } = parsed;
  const { answer, settle, metered, revisitSeconds } = description;
  return [
    ...(answer === 'streamed' && settle === 'after' ? [CHARGED_TOO_LATE] : []),
    ...(metered && !faulty.has('metered') ? explainMetered(description, context) : []),
    ...(revisitSeconds > 0 && !faulty.has('revisitSeconds') ? explainRevisits(description, context) : []),
  ];
}

const CHARGED_TOO_LATE: Contradiction = [
  'settle',
  'cannot be after where answer is streamed: its first bytes leave before its end is known',
];

function* explainMetered(
  { answer, settle }: RouteDescription,
  { signedPayments = false }: ContradictionContext,
): Iterable<Contradiction> {
  const why = 'what it comes to is known when it is there';
  if (answer === 'streamed') yield ['answer', `cannot be streamed where metered is true: ${why}`];
  if (settle === 'before') yield ['settle', `cannot be before where metered is true: ${why}`];
  if (!signedPayments) yield ['metered', 'needs SIGNED_PAYMENTS=true: the payer signs a maximum, and less is settled'];
}

function* explainRevisits(
  { methods, metered }: RouteDescription,
  { publicUrl, signedPayments = false }: ContradictionContext,
): Iterable<Contradiction> {
  if (Array.isArray(methods) && methods.some((method) => method !== 'GET')) {
    yield ['methods', 'must be [GET] where revisitSeconds is set: nothing else may be repeated without being paid'];
  }
  if (metered) yield ['revisitSeconds', 'cannot be set where metered is true: each answer has a price of its own'];
  if (!signedPayments) yield ['revisitSeconds', 'needs SIGNED_PAYMENTS=true: clients are asked in its header'];
  if (publicUrl === undefined) {
    yield ['revisitSeconds', 'needs PUBLIC_URL: a sign-in is for one host, and clients could name any'];
  }
}
