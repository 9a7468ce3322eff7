import type { Atom } from './atom.js';
import { chooseOperation, hasAct, type Choice } from './choose-operation.js';
import { addItem, lastIntent } from './collect-items.js';
import { createIntent, fillSlots, type FillContext } from './fill-slots.js';
import { findUnused } from './find-unused.js';
import type { Intent, Item, Misunderstanding, Understanding } from './intent.js';
import { ACTS, SHORT_MESSAGES } from './lexicon/markers.js';
import { AMBIGUOUS, OPERATIONS } from './lexicon/operations.js';
import { WRITING_VERBS } from './lexicon/verbs.js';
import { findNearOperations } from './near-operations.js';
import { readAtoms } from './read-atoms.js';
import { readPhrases, type Phrase } from './read-phrases.js';
import { aboutPayment, resolvePayment } from './resolve-payment.js';
import { inheritToken, OPPOSITES, resolvePronoun } from './resolve-references.js';
import { splitClauses, type Clause } from './split-clauses.js';
import { tokenize } from './tokenize.js';

/** What the grammar may look back at. */
export interface GrammarContext {
  resources: Readonly<Record<string, string>>;
  /** The last operation that the person asked for; `it` and `again` point there. */
  previous: Intent | null;
}

const SHORT = new Map(
  Object.entries(SHORT_MESSAGES).flatMap(([kind, texts]) => texts.split(', ').map((text) => [text, kind] as const)),
);

/** Whether a whole message is one of the short ones: `yes`, `never mind`, `hello`, `thanks`, `help`. */
export function readShortMessage(message: string): string | null {
  const words = tokenize(message).filter(({ kind, text }) => kind !== 'mark' || text === '?');
  const text = words.map((word) => word.text).join(' ');
  return (
    SHORT.get(text) ??
    SHORT.get(text.replace(/ \?$/, '')) ??
    SHORT.get(text.replace(/ (please|there|tollgate|agent|bot)$/, '')) ??
    null
  );
}

const misunderstanding = (atoms: readonly Atom[], reason: string): Item => {
  const part = atoms.map(({ raw }) => raw).join(' ');
  return {
    type: 'misunderstanding',
    misunderstanding: { part, reason, near: findNearOperations(atoms) } satisfies Misunderstanding,
  };
};

const intentItem = (intent: Intent, atoms: readonly Atom[], phrases: readonly Phrase[]): Item => ({
  type: 'intent',
  intent,
  doubts: OPERATIONS[intent.operation]?.readOnly
    ? []
    : [...phrases.flatMap(({ unknown }) => unknown), ...findUnused(intent, phrases)],
  readAs: atoms.flatMap(({ raw, readAs }) => (readAs === undefined ? [] : [`"${raw}" as ${readAs}`])),
});

const explain = (operation: string, intent?: Intent): Item => ({
  type: 'remark',
  remark: { kind: 'explain', operation, ...(intent && { intent }) },
});

/** "withdraw it", "take 5 out again". */
const pointsBack = ({ kind, id }: Atom): boolean =>
  kind === 'pronoun' || (kind === 'verb' && id === 'repeat') || (kind === 'noun' && id === 'back');

const PAIRS_WITH_MANY: Readonly<Record<string, readonly string[]>> = {
  markets: ['getLendingMarkets', 'perpsGetProducts'],
  positions: ['perpsGetPositions', 'getLendingPosition', 'getStakingPosition', 'getLiquidityPositions'],
};

/** The intents and remarks of a chosen clause. */
function readChoice(choice: Choice, clause: Clause, before: Intent | null, context: GrammarContext): Item[] {
  const { atoms } = clause;
  if (choice.kind === 'statement') return [misunderstanding(atoms, 'it tells of something, and asks for nothing')];
  const phrases = readPhrases(atoms);
  const verbs = new Set(atoms.filter(({ kind }) => kind === 'verb').map(({ id }) => id));
  const fill: FillContext = { resources: context.resources, verbs };
  const payment = resolvePayment(choice, phrases, before, fill);
  if (payment) return [intentItem(payment, atoms, phrases)];
  if (choice.kind === 'none') return [misunderstanding(atoms, '')];
  const { operation } = choice;
  const ambiguous = AMBIGUOUS[operation];
  const opposite = ambiguous?.find((name) => before && OPPOSITES[before.operation] === name);
  if (opposite && atoms.some(pointsBack))
    return readChoice({ kind: choice.kind, operation: opposite }, clause, before, context);
  if (choice.kind === 'explain') return [explain(ambiguous?.[0] ?? operation, aboutPayment(operation, phrases, fill))];
  if (operation === 'rewards') return [explain('stake')];
  if (operation === 'help') return [{ type: 'remark', remark: { kind: 'help' } }];
  if (operation === 'portfolio') return [{ type: 'remark', remark: { kind: 'portfolio' } }];
  if (ambiguous) {
    const words = atoms.map(({ raw }) => raw).join(' ');
    return [{ type: 'ambiguity', ambiguity: { words, operations: ambiguous } }];
  }
  const several = PAIRS_WITH_MANY[operation];
  const empty = { input: {}, shares: {}, problems: [] };
  if (several) return several.map((name) => intentItem(createIntent(name, empty), atoms, phrases));
  if (operation === 'getERC20Balance') return readBalances(phrases, fill, atoms);
  const said = fillSlots(operation, phrases, fill);
  if (operation === 'repayLending' && verbs.has('settle') && said.input.amount === undefined) said.input.amount = 'MAX';
  let intent = createIntent(operation, said);
  if (phrases.some(({ pronoun }) => pronoun)) intent = resolvePronoun(intent, before);
  if (clause.isContinuation) intent = inheritToken(intent, before);
  return [intentItem(intent, atoms, phrases)];
}

/** Each token that is named has a balance of its own. */
function readBalances(phrases: readonly Phrase[], fill: FillContext, atoms: readonly Atom[]): Item[] {
  const named = phrases.filter(({ asset, address }) => asset !== null || address !== null);
  const each = named.length === 0 ? [[]] : named.map((phrase) => [phrase]);
  return each.map((part) =>
    intentItem(createIntent('getERC20Balance', fillSlots('getERC20Balance', part, fill)), atoms, []),
  );
}

/** A clause without a verb repeats the operation before it with other inputs: `and 2 to WBTC`. */
function readEllipsis(clause: Clause, before: Intent, context: GrammarContext): Item | null {
  const phrases = readPhrases(clause.atoms);
  const fill: FillContext = { resources: context.resources, verbs: new Set() };
  if (before.operation === 'getERC20Balance' && clause.atoms.some(({ kind }) => kind === 'asset'))
    return readBalances(phrases, fill, clause.atoms)[0] ?? null;
  const said = fillSlots(before.operation, phrases, fill);
  if (Object.keys(said.input).length === 0 && Object.keys(said.shares).length === 0) return null;
  const kept = Object.fromEntries(Object.entries(before.input).filter(([slot]) => slot !== 'amount'));
  return intentItem(createIntent(before.operation, said, { input: kept, shares: {} }), clause.atoms, phrases);
}

/** What was left out before may stand in the clause after: `send 5 USDC and 2 SEI to 0x…`. */
function completeBackwards(items: Item[], after: Intent): void {
  const last = items.at(-1);
  if (last?.type !== 'intent' || last.intent.operation !== after.operation || last.intent.missing.length === 0) return;
  const found = Object.fromEntries(
    Object.entries(after.input).filter(
      ([slot]) => last.intent.missing.includes(slot) && slot !== 'amount' && slot !== 'fromToken',
    ),
  );
  items[items.length - 1] = {
    ...last,
    intent: createIntent(after.operation, { ...last.intent, input: { ...last.intent.input, ...found } }),
  };
}

const BLOCKS: readonly (readonly [keyof typeof ACTS, string])[] = [
  ['report', 'these are words of somebody else, and I act on yours alone'],
  ['past', 'it tells of something, and asks for nothing'],
  ['undo', 'what went through cannot be taken back'],
  ['condition', 'I can neither wait for a condition nor keep a schedule'],
];

function isBlocked(clause: Clause): string | null {
  return BLOCKS.find(([act]) => hasAct(clause.sentence, String(act)))?.[1] ?? null;
}

/** `do the same again with 2`: the operation before, with what is said in place of its inputs. */
function readRepeat(clause: Clause, before: Intent | null, context: GrammarContext): Item {
  if (!before) return misunderstanding(clause.atoms, 'there is nothing before it to be done again');
  const phrases = readPhrases(clause.atoms);
  const said = fillSlots(before.operation, phrases, { resources: context.resources, verbs: new Set() });
  // Another token's amount is another amount.
  const names = Object.keys(said.input);
  const keepsAmount = names.length === 0 || names.includes('amount');
  const kept = Object.entries(before.input).filter(([slot]) => keepsAmount || !slot.startsWith('amount'));
  return intentItem(
    createIntent(before.operation, said, { input: Object.fromEntries(kept), shares: before.shares }),
    clause.atoms,
    phrases,
  );
}

const isRepeat = (atoms: readonly Atom[]): boolean =>
  atoms.some(({ kind, id }) => kind === 'verb' && id === 'repeat') &&
  atoms.every(({ kind, id }) => kind !== 'verb' || id === 'repeat' || id === 'use');

const isReading = ({ operation }: Intent): boolean => OPERATIONS[operation]?.readOnly === true;

function readClause(clause: Clause, items: Item[], before: Intent | null, context: GrammarContext): Item[] {
  const { atoms } = clause;
  // "send 5 …, but not to Bob", "stake 4? no": it takes something back of what was asked before.
  const isRequested = items.some((item) => item.type === 'intent' && !isReading(item.intent));
  if (clause.isNegated && isRequested && !atoms.some(({ kind }) => kind === 'verb'))
    return [misunderstanding(atoms, '')];
  if (clause.isNegated) return [{ type: 'remark', remark: { kind: 'nothing' } }];
  if (clause.isVerbless && !clause.isAlternative && before && (clause.isContinuation || isReading(before))) {
    const item = readEllipsis(clause, before, context);
    if (item?.type === 'intent') {
      completeBackwards(items, item.intent);
      return [item];
    }
  }
  const blocked = isBlocked(clause);
  if (blocked === null && isRepeat(atoms)) return [readRepeat(clause, before, context)];
  const choice = chooseOperation(atoms);
  if (choice.kind === 'write' && isAboutOthers(atoms))
    return [misunderstanding(atoms, 'it is about somebody else, and I act for you alone')];
  const isReported = hasAct(clause.sentence, 'report');
  if (
    blocked !== null &&
    choice.kind !== 'read' &&
    (isReported || (choice.kind !== 'quote' && choice.kind !== 'explain'))
  )
    return [misunderstanding(atoms, blocked)];
  if (clause.isAlternative && choice.kind !== 'read' && choice.kind !== 'quote')
    return [misunderstanding(atoms, 'it leaves a choice; say which one you want')];
  if (atoms.some(({ kind }) => kind === 'quoted') && choice.kind === 'write')
    return [misunderstanding(atoms, 'what is in quotation marks are words of somebody else')];
  return readChoice(choice, clause, before, context);
}

/** "my friend wants to stake": the one who acts stands before the verb. */
function isAboutOthers(atoms: readonly Atom[]): boolean {
  const verb = atoms.findIndex(({ kind, id }) => kind === 'verb' && WRITING_VERBS.has(id));
  return hasAct(atoms.slice(0, Math.max(verb, 0)), 'thirdPerson');
}

/** What one message asks for. Deterministic, and never throws. */
export function understand(message: string, context: GrammarContext): Understanding {
  const short = readShortMessage(message);
  if (short === 'greeting' || short === 'thanks' || short === 'help')
    return { items: [{ type: 'remark', remark: { kind: short } }] };
  if (short === 'cancel') return { items: [{ type: 'remark', remark: { kind: 'nothing' } }] };
  const items: Item[] = [];
  const clauses = splitClauses(readAtoms(tokenize(message)));
  for (const clause of clauses) {
    for (const item of readClause(clause, items, lastIntent(items) ?? context.previous, context)) addItem(items, item);
  }
  if (items.length === 0) items.push(misunderstanding([], ''));
  const [first] = items;
  // "don't swap, stake 2": the request is what counts.
  const asked = items.filter((item) => item.type !== 'remark' || item.remark.kind !== 'nothing');
  return { items: asked.length > 0 ? asked : first ? [first] : [] };
}
