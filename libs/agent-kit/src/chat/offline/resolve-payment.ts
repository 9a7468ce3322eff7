import type { Choice } from './choose-operation.js';
import { createIntent, fillSlots, type FillContext } from './fill-slots.js';
import type { Intent } from './intent.js';
import type { Phrase } from './read-phrases.js';

/** The payment that a question was about: "what's the weather?" is asked of a resource that costs something. */
export function aboutPayment(operation: string, phrases: readonly Phrase[], fill: FillContext): Intent | undefined {
  if (operation !== 'payForResource') return undefined;
  const intent = createIntent(operation, fillSlots(operation, phrases, fill));
  return intent.missing.length === 0 ? intent : undefined;
}

/** `buy it`, `pay for it, at most 0.01`: the resource that was spoken of before. */
export function resolvePayment(
  choice: Choice,
  phrases: readonly Phrase[],
  before: Intent | null,
  fill: FillContext,
): Intent | null {
  if (before?.operation !== 'payForResource' || !['write', 'none'].includes(choice.kind)) return null;
  const isPayment = ['buy', 'get', 'pay'].some((verb) => fill.verbs.has(verb));
  const pointsBack = phrases.length === 0 || phrases.some(({ pronoun }) => pronoun);
  const namesOther = phrases.some(
    ({ asset, address, url, preposition }) =>
      (asset !== null && preposition !== 'atMost') || address !== null || url !== null,
  );
  if (!isPayment || !pointsBack || namesOther) return null;
  return createIntent('payForResource', fillSlots('payForResource', phrases, fill), before);
}
