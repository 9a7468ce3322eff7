import { setTimeout as sleep } from 'node:timers/promises';

import type { BookVerdict } from '@tollgate/book';
import type { ReconcileAnswer } from '@tollgate/operator-api';

/** Asks the operator API, with a body by POST. Resolves with the body; throws for any status but 2xx. */
export type AskOperator = (path: string, body?: object) => Promise<string>;

/** Longer than the grace of deploy/devnet.env. */
const RECONCILED_WITHIN_MS = 180_000;
const PAUSE_MS = 500;

/** A client of the bookkeeper at this address, with an API key that has the scopes. */
export function connectOperator(bookkeeperUrl: string, apiKey: string): AskOperator {
  return async (path, body) => {
    const headers = { Authorization: `Bearer ${apiKey}`, ...(body && { 'Content-Type': 'application/json' }) };
    const content = body && { method: 'POST', body: JSON.stringify(body) };
    const response = await fetch(`${bookkeeperUrl}/operator/${path}`, { headers, ...content });
    const text = await response.text();
    if (!response.ok) throw new Error(`/operator/${path} was answered ${response.status}: ${text}`);
    return text;
  };
}

/**
 * Waits until every transfer to the recipient and every transaction of relayers and wallets, at least up to this block, is
 * compared with the book, and none differs; then lets the bookkeeper verify the book's hash chain and sums.
 */
export async function expectWholeBook(ask: AskOperator, untilBlock = 0): Promise<ReconcileAnswer> {
  const reconciliation = await waitUntilReconciled(ask, untilBlock);
  const verdict = JSON.parse(await ask('verification')) as BookVerdict;
  if (verdict.broken !== null) throw new Error(`The book is broken: ${JSON.stringify(verdict)}`);
  return reconciliation;
}

async function waitUntilReconciled(ask: AskOperator, untilBlock: number): Promise<ReconcileAnswer> {
  for (const giveUpMs = Date.now() + RECONCILED_WITHIN_MS; ; await sleep(PAUSE_MS)) {
    const text = await ask('reconcile').catch(String);
    const answer = text.startsWith('{') ? (JSON.parse(text) as ReconcileAnswer) : null;
    if (answer?.trouble === null && (answer.block ?? 0) >= untilBlock && countOpen(answer) === 0) return answer;
    if (Date.now() > giveUpMs) throw new Error(`Chain and book do not agree: ${text}`);
  }
}

function countOpen({ chainOnly, bookOnly, different, waiting }: ReconcileAnswer): number {
  return chainOnly.length + bookOnly.length + different.length + waiting.transfers + waiting.payments;
}
