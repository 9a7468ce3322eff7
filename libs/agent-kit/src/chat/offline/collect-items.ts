import type { Intent, Item } from './intent.js';
import { OPERATIONS } from './lexicon/operations.js';

const aboutOf = (item: Item): Intent | undefined =>
  item.type === 'intent'
    ? item.intent
    : item.type === 'remark' && 'intent' in item.remark
      ? item.remark.intent
      : undefined;

/** What was spoken of last in a message: `it` points there. */
export const lastIntent = (items: readonly Item[]): Intent | null =>
  items.reduce<Intent | null>((last, item) => aboutOf(item) ?? last, null);

/** "Fetch it and pay", "what can be lent, and for how much interest": one request in two clauses. */
function isSaidAgain(item: Item, last: Item | undefined): boolean {
  if (item.type !== 'intent' || last?.type !== 'intent' || item.intent.operation !== last.intent.operation)
    return false;
  const { operation, input } = item.intent;
  const isOnce = OPERATIONS[operation]?.readOnly === true || operation === 'payForResource';
  return isOnce && JSON.stringify(input) === JSON.stringify(last.intent.input);
}

/** Neighbouring clauses that are refused for one reason are one part. */
export function addItem(items: Item[], item: Item): void {
  const last = items.at(-1);
  if (
    item.type === 'misunderstanding' &&
    last?.type === 'misunderstanding' &&
    item.misunderstanding.reason === last.misunderstanding.reason
  ) {
    const part = `${last.misunderstanding.part}, ${item.misunderstanding.part}`;
    const near = [...new Set([...last.misunderstanding.near, ...item.misunderstanding.near])].slice(0, 3);
    items[items.length - 1] = { type: 'misunderstanding', misunderstanding: { ...item.misunderstanding, part, near } };
  } else if (!isSaidAgain(item, last)) items.push(item);
}
