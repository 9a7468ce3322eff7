import { createAgenda, type Agenda, type ConversationState, type Pending } from './agenda.js';
import { answerSlot } from './answer-question.js';
import { correctPrevious } from './correct-previous.js';
import type { Intent, Item, Understanding } from './intent.js';
import { OPERATIONS } from './lexicon/operations.js';
import { findLookUp } from './look-up-position.js';
import { takesReceived } from './measure-received.js';
import { readShortMessage, understand } from './understand.js';

export const isWrite = ({ operation }: Intent): boolean => OPERATIONS[operation]?.readOnly === false;

type Resources = Readonly<Record<string, string>>;

function askForMissing(intents: Intent[]): Pending | null {
  const index = intents.findIndex((intent) => intent.missing.length > 0 && !findLookUp(intent));
  const slot = intents[index]?.missing[0];
  return slot === undefined ? null : { kind: 'slot', intents, index, slot };
}

/** What an earlier swap has brought is only known when it is measured in the same go. */
function doubtUnknownAmount(intent: Intent, earlier: readonly Intent[]): Intent {
  if (!takesReceived(intent) || earlier.findLast(isWrite)?.operation === 'swap') return intent;
  return { ...intent, problems: ['I do not know how much came out of the swap; all that is there may be more'] };
}

/** The intents at once, or the question that comes before them. */
function pursue(asked: Intent[], rest: Partial<Agenda> = {}): Agenda {
  const intents = asked.map((intent, index) => doubtUnknownAmount(intent, asked.slice(0, index)));
  const isDoubtful = intents.some((intent) => isWrite(intent) && intent.problems.length > 0);
  const pending: Pending | null = askForMissing(intents) ?? (isDoubtful ? { kind: 'confirm', intents } : null);
  return pending ? createAgenda({ ...rest, pending }) : createAgenda({ ...rest, intents });
}

const ofType = <Type extends Item['type']>(items: readonly Item[], type: Type): Extract<Item, { type: Type }>[] =>
  items.filter((item): item is Extract<Item, { type: Type }> => item.type === type);

/** Nothing that changes something is done while a part of the message is not understood or doubtful. */
function planItems({ items }: Understanding): Agenda {
  const intents = ofType(items, 'intent');
  const wanted = intents.map(({ intent }) => intent);
  const misunderstandings = ofType(items, 'misunderstanding').map((item) => item.misunderstanding);
  const doubts = intents.flatMap((item) => item.doubts);
  if (doubts.length > 0) misunderstandings.push({ part: doubts.join(' '), reason: '', near: [] });
  const rest: Partial<Agenda> = {
    remarks: ofType(items, 'remark').map(({ remark }) => remark),
    readAs: intents.flatMap((item) => item.readAs),
    misunderstandings,
  };
  const at = items.findIndex(({ type }) => type === 'ambiguity');
  const unclear = items[at];
  if (unclear?.type === 'ambiguity') {
    const [before, after] = [items.slice(0, at), items.slice(at + 1)].map((part) =>
      ofType(part, 'intent').map(({ intent }) => intent),
    );
    const { words, operations } = unclear.ambiguity;
    return createAgenda({
      ...rest,
      pending: { kind: 'place', words, operations, before: before ?? [], after: after ?? [] },
    });
  }
  const about = findOffer(items);
  if (about) return createAgenda({ pending: { kind: 'confirm', intents: [about] } });
  if (misunderstandings.length === 0 || !wanted.some(isWrite)) return pursue(wanted, rest);
  return createAgenda({ ...rest, pending: { kind: 'confirm', intents: wanted } });
}

/** A question for what only a payment answers: "what's the weather?" */
function findOffer(items: readonly Item[]): Intent | undefined {
  const [item, ...others] = items;
  return item?.type === 'remark' && others.length === 0 && item.remark.kind === 'explain'
    ? item.remark.intent
    : undefined;
}

/** What was said yes to is no problem any more; what is missing still is. */
function settleProblems(intent: Intent): Intent {
  if (intent.missing.length > 0 || intent.problems.length === 0) return intent;
  return { ...intent, problems: [], ...(takesReceived(intent) && { wanted: {} }) };
}

function answerPending(text: string, short: string | null, pending: Pending, resources: Resources): Agenda | null {
  if (short === 'cancel') return createAgenda({ preface: ['All right, I leave it. Nothing was done.'] });
  if (pending.kind === 'confirm') {
    if (short === 'yes') return pursue(pending.intents.map((intent) => settleProblems(intent)));
    const [only, ...others] = pending.intents;
    const amended = only && others.length === 0 && only.shares.amount ? answerSlot(text, only, 'amount') : null;
    return amended && pursue([amended]);
  }
  if (short === 'yes') return createAgenda({ pending });
  if (pending.kind === 'place') {
    const understanding = understand(`${pending.words} ${text}`, { resources, previous: null });
    const [item] = understanding.items;
    if (understanding.items.length !== 1 || item?.type !== 'intent') return null;
    return pursue([...pending.before, item.intent, ...pending.after]);
  }
  const asked = pending.intents[pending.index];
  const answered = asked && answerSlot(text, asked, pending.slot);
  if (!answered) return null;
  return pursue(pending.intents.map((intent, index) => (index === pending.index ? answered : intent)));
}

/** A request in the middle of a question: the same operation takes over what was said already. */
function mergeWithPending(agenda: Agenda, pending: Pending | null): Agenda {
  if (!pending) return agenda;
  const onlyTalks = agenda.intents.every((intent) => !isWrite(intent)) && agenda.pending === null;
  const isDropped = agenda.remarks.some(({ kind }) => kind === 'nothing');
  return onlyTalks && !isDropped ? { ...agenda, pending, isStillPending: true } : agenda;
}

/** What a message leads to, in the light of the conversation so far. */
export function interpret(text: string, state: ConversationState, resources: Resources): Agenda {
  const short = readShortMessage(text);
  if (state.pending) {
    const answer = answerPending(text, short, state.pending, resources);
    if (answer) return answer;
  } else if (short === 'yes') {
    return createAgenda({ preface: ['There is nothing that waits for a yes.'] });
  }
  const correction = correctPrevious(text, state);
  if (correction) {
    const { intent, isRepeat } = correction;
    if (isRepeat || !isWrite(intent) || intent.missing.length > 0) return pursue([intent]);
    return createAgenda({
      preface: ['The one before went through already, and cannot be taken back.'],
      pending: { kind: 'confirm', intents: [intent] },
    });
  }
  const offered = state.pending?.kind === 'confirm' ? state.pending.intents.at(-1) : undefined;
  const previous = offered?.operation === 'payForResource' ? offered : state.previous;
  const understanding = understand(text, { resources, previous });
  return mergeWithPending(planItems(understanding), state.pending);
}
