import type { ConversationState } from './agenda.js';
import { answerSlot } from './answer-question.js';
import type { Intent } from './intent.js';
import { CORRECTIONS, OBJECTIONS } from './lexicon/corrections.js';

export interface Correction {
  intent: Intent;
  /** It may be carried out at once: the operation before it did not go through. */
  isRepeat: boolean;
}

const escape = (phrase: string): string => phrase.replaceAll(' ', String.raw`\s+`);
const OBJECTION = new RegExp(`^(?:(?:${OBJECTIONS.map(escape).join('|')})(?:[\\s,.!-]+|$))+`, 'i');
const CORRECTION = new RegExp(`^(?:please\\s+)?(?:${CORRECTIONS.map(escape).join('|')})\\s+`, 'i');

/** `no, make it 3`: the operation before, or the one that is asked about, with another input. */
export function correctPrevious(
  text: string,
  { pending, previous, isPreviousDone }: ConversationState,
): Correction | null {
  const plain = text.trim().replace(/[‘’]/g, "'");
  const withoutObjection = plain.replace(OBJECTION, '');
  const rest = withoutObjection.replace(CORRECTION, '');
  if (rest === plain || rest === '') return null;
  const asked = pending?.kind === 'confirm' || pending?.kind === 'slot' ? pending : null;
  const base = asked ? asked.intents[asked.kind === 'slot' ? asked.index : asked.intents.length - 1] : previous;
  if (!base || (asked && asked.intents.length > 1)) return null;
  const intent = answerSlot(rest, base, base.missing[0] ?? mainSlot(base));
  return intent && { intent, isRepeat: asked !== null || !isPreviousDone };
}

/** What a bare number most likely corrects. */
function mainSlot({ input, shares }: Intent): string {
  return ['amount', 'percent', 'tokenId', 'positionId'].find((slot) => slot in input || slot in shares) ?? 'amount';
}
