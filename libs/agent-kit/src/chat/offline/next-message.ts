import type { Agenda, ConversationState } from './agenda.js';
import { carryOut, type CallRequest, type CourseEnd } from './carry-out.js';
import { composeReply } from './compose-reply.js';
import { interpret } from './interpret.js';
import type { Outcome, Turn } from './read-turns.js';

export interface NextMessage {
  text: string;
  calls: readonly CallRequest[];
}

interface Progress {
  /** The calls that are wanted next, or null when the course came to its end. */
  wanted: readonly CallRequest[] | null;
  end: CourseEnd;
}

const UNFINISHED: CourseEnd = { lines: [], last: null, isLastDone: false };

/** Goes through the course again with the outcomes that are there: the same words and outcomes lead to the same place. */
function replay(agenda: Agenda, turn: Turn, canCall: (name: string) => boolean): Progress {
  const course = carryOut(agenda);
  let at = 0;
  let step = course.next();
  while (step.done !== true) {
    const requests = step.value;
    const outcomes: Outcome[] = [];
    for (const request of requests) {
      if (!canCall(request.name)) {
        outcomes.push({ kind: 'failed', data: { error: `This chat has no tool ${request.name}.` } });
        continue;
      }
      const outcome = turn.calls[at]?.outcome;
      if (!outcome) {
        // A call without an answer may have been carried out all the same.
        const end = { ...UNFINISHED, isLastDone: turn.calls.length > at };
        return { wanted: requests.filter(({ name }) => canCall(name)), end };
      }
      outcomes.push(outcome);
      at += 1;
    }
    step = course.next(outcomes);
  }
  return { wanted: null, end: step.value };
}

const withQuestion = (agenda: Agenda, { pending }: CourseEnd): Agenda => (pending ? { ...agenda, pending } : agenda);

function advance(state: ConversationState, agenda: Agenda, end: CourseEnd): ConversationState {
  const asked = agenda.pending?.kind === 'slot' ? null : agenda.intents.at(-1);
  const last = end.last ?? asked ?? null;
  return {
    pending: agenda.pending,
    previous: last ?? state.previous,
    isPreviousDone: last ? end.isLastDone : state.isPreviousDone,
  };
}

/** What the model says or calls next, from the conversation alone: nothing is remembered between two calls. */
export function createNextMessage(
  turns: readonly Turn[],
  resources: Readonly<Record<string, string>>,
  canCall: (name: string) => boolean,
): NextMessage {
  let state: ConversationState = { pending: null, previous: null, isPreviousDone: false };
  for (const [index, turn] of turns.entries()) {
    const agenda = interpret(turn.text, state, resources);
    const { wanted, end } = replay(agenda, turn, canCall);
    if (index === turns.length - 1) {
      if (wanted) return { text: wanted.flatMap(({ saying }) => saying).join('\n'), calls: wanted };
      return { text: composeReply(withQuestion(agenda, end), end.lines), calls: [] };
    }
    state = advance(state, withQuestion(agenda, end), end);
  }
  return { text: 'What can I do for you? Ask "help" for examples.', calls: [] };
}
