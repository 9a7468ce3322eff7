import { readFeatures } from './choose-operation.js';
import { createIntent, fillSlots } from './fill-slots.js';
import { findUnused } from './find-unused.js';
import type { Intent } from './intent.js';
import { readAtoms } from './read-atoms.js';
import { readPhrases, type Phrase } from './read-phrases.js';
import { putAmount, type Slots } from './slots.js';
import { tokenize } from './tokenize.js';

const TAKES_MAX = new Set(['redeemLending', 'repayLending']);
const TOKEN_SLOTS = new Set(['fromToken', 'toToken', 'token', 'symbol', 'tokenA', 'tokenB']);
const AMOUNT_SLOTS = new Set(['amount', 'amountA', 'amountB']);
const NUMBER_SLOTS = new Set(['tokenId', 'positionId', 'leverage']);
const ADDRESS_SLOTS = new Set(['to', 'spender', 'contractAddress']);

// Verbs that answers use too: "use USDC", "I'll go with 2".
const ANSWERING_VERBS = new Set(['use', 'get', 'go', 'show']);
// "Make it 2", "buy WSEI" answer a question about a swap; anywhere else they ask for one.
const SWAPS = new Set(['swap', 'getSwapQuote']);

const createSlots = (): Slots => ({ input: {}, shares: {}, problems: [] });

/** A phrase that is the answer and nothing else goes into the slot that was asked for. */
function putDirectly(slot: string, phrases: readonly Phrase[], operation: string): Slots | null {
  const [phrase, ...others] = phrases;
  if (!phrase || others.length > 0) return null;
  const slots = createSlots();
  const { amount, asset, address, preposition, nouns } = phrase;
  const token = asset ?? address;
  if (AMOUNT_SLOTS.has(slot) && amount && token === null) putAmount(slots, slot, amount, TAKES_MAX.has(operation));
  else if (TOKEN_SLOTS.has(slot) && token !== null && amount === null) {
    const isOther = (preposition === 'from' && slot === 'toToken') || (preposition === 'to' && slot === 'fromToken');
    if (isOther) return null;
    slots.input[slot] = slot === 'symbol' && token === '0x0' ? 'SEI' : token;
  } else if (NUMBER_SLOTS.has(slot)) {
    const number = phrase.id ?? phrase.leverage ?? (amount?.kind === 'exact' ? amount.text : null);
    if (number === null || !/^\d+$/.test(number)) return null;
    if (slot !== 'leverage') slots.input[slot] = number;
    else if (Number(number) >= 1 && Number(number) <= 20) slots.input[slot] = Number(number);
    else slots.problems.push('The leverage goes from 1x to 20x in whole steps');
  } else if (ADDRESS_SLOTS.has(slot) && address !== null) slots.input[slot] = address;
  else if (slot === 'side' && nouns.includes('long') !== nouns.includes('short'))
    slots.input[slot] = nouns.includes('long') ? 'long' : 'short';
  else return null;
  return slots;
}

const isEmpty = ({ input, shares, problems }: Slots): boolean =>
  Object.keys(input).length + Object.keys(shares).length + problems.length === 0;

/** The intent with what an answer adds to it, or null when the text does not answer. */
export function answerSlot(text: string, intent: Intent, slot: string): Intent | null {
  const atoms = readAtoms(tokenize(text));
  const verbs = atoms.filter(({ kind }) => kind === 'verb');
  const features = readFeatures(atoms);
  const isAnswering = (id: string) => ANSWERING_VERBS.has(id) || (id === 'swap' && SWAPS.has(intent.operation));
  if (verbs.some(({ id, form }) => !isAnswering(id) || form === 'past')) return null;
  if (
    atoms.some(({ kind, id }) => kind === 'act' && id !== 'question') ||
    features.has('#howMuch') ||
    features.has('#which')
  )
    return null;
  if (features.has('show') && !features.has('amount')) return null;
  if (atoms.some(({ kind, id }) => kind === 'joint' && id === 'or')) return null;
  const phrases = readPhrases(atoms.filter(({ kind }) => kind !== 'verb' && kind !== 'joint'));
  const direct = putDirectly(slot, phrases, intent.operation);
  const said = direct ?? fillSlots(intent.operation, phrases, { resources: {}, verbs: new Set() });
  if (isEmpty(said)) return null;
  const answered = createIntent(intent.operation, said, intent);
  // "less than 10", "5 to 6": what has no place makes it no answer.
  const rest = [...phrases.flatMap(({ unknown }) => unknown), ...findUnused(answered, phrases)];
  return rest.length === 0 ? answered : null;
}
