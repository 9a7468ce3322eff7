/**
 * What the events of a target are about. Each subject has keys of its own, so that the Redis user of a process reaches
 * the targets of its subject alone; all are in one slot, so that a script keeps what belongs together.
 */
export type WebhookSubject = 'jobs' | 'payments';

/** How far the book was followed. A copy must not have it without what was added up to there. */
export const BOOK_POSITION = keyOf('payments', 'position');

/** A key of a subject; without a part, the prefix of all, which the scripts get. */
export function keyOf(subject: WebhookSubject, part?: string): string {
  return `tollgate:{webhooks}:${subject}${part === undefined ? '' : `:${part}`}`;
}
