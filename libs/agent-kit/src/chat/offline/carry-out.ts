import type { Agenda, Pending } from './agenda.js';
import { computeAmount, readingsFor } from './balance-readings.js';
import { describeIntent } from './describe-intent.js';
import { describeOutcome } from './describe-outcome.js';
import type { Intent, SlotValue } from './intent.js';
import { isWrite } from './interpret.js';
import { OPERATIONS } from './lexicon/operations.js';
import { findLookUp, findPositions } from './look-up-position.js';
import { measureReceived, readHeld, readReceived, takesReceived } from './measure-received.js';
import { isObject, type Outcome } from './read-turns.js';

export interface CallRequest {
  name: string;
  args: Record<string, SlotValue>;
  /** Said together with the calls. */
  saying: string[];
}

/** Yields calls and is given their outcomes; returns what is said in the end. */
export type Course = Generator<CallRequest[], CourseEnd, Outcome[]>;

export interface CourseEnd {
  lines: string[];
  /** The last operation that went through, or was tried. */
  last: Intent | null;
  isLastDone: boolean;
  /** What turned out on the way to be asked. */
  pending?: Pending;
}

const MOST_TOKENS = 20;

/** The inputs in the order of the catalog, however they were found out. */
function request({ operation, input }: Intent, saying: string[] = []): CallRequest {
  const slots = (OPERATIONS[operation]?.slots ?? []).map((slot) => slot.replace('?', ''));
  const args = Object.fromEntries(slots.flatMap((slot) => (input[slot] === undefined ? [] : [[slot, input[slot]]])));
  return { name: operation, args, saying };
}

/** The balances of the token list, native token included. */
function* readPortfolio(): Generator<CallRequest[], string[], Outcome[]> {
  const [listed] = yield [{ name: 'listTokens', args: {}, saying: [] }];
  if (listed?.kind !== 'success') return [describeOutcome({ operation: 'listTokens', input: {} }, listed ?? MISSING)];
  const entries = Array.isArray(listed.data.tokens) ? listed.data.tokens.filter(isObject) : [];
  const addresses = entries.flatMap(({ address }) => (typeof address === 'string' ? [address] : []));
  const tokens = ['0x0', ...addresses.filter((address) => address !== '0x0')].slice(0, MOST_TOKENS);
  const calls = tokens.map((token) => ({
    name: 'getERC20Balance',
    args: token === '0x0' ? {} : { contractAddress: token },
    saying: [],
  }));
  const outcomes = yield calls;
  return calls.map(({ args }, index) =>
    describeOutcome({ operation: 'getERC20Balance', input: args }, outcomes[index] ?? MISSING),
  );
}

const MISSING: Outcome = { kind: 'failed', data: { error: 'There was no answer.' } };

/** "Close my position": the only one there is, or what to say or ask. */
function* lookUpMissing(
  intent: Intent,
  rest: readonly Intent[],
): Generator<CallRequest[], Intent | Pick<CourseEnd, 'lines' | 'pending'>, Outcome[]> {
  const lookUp = findLookUp(intent);
  if (!lookUp) return intent;
  const { reading, slot, none } = lookUp;
  const [outcome] = yield [{ name: reading, args: {}, saying: [] }];
  if (outcome?.kind !== 'success')
    return { lines: [describeOutcome({ operation: reading, input: {} }, outcome ?? MISSING)] };
  const found = findPositions(intent, lookUp, outcome.data);
  const [only] = found;
  if (only === undefined) return { lines: [none, ...describeRest(rest)] };
  if (found.length === 1) return { ...intent, input: { ...intent.input, [slot]: only }, missing: [] };
  return {
    lines: [`There are ${found.length}: ${found.slice(0, MOST_TOKENS).join(', ')}.`],
    pending: { kind: 'slot', intents: [intent, ...rest], index: 0, slot },
  };
}

/** Amounts that are parts of balances, computed from readings; or why not. */
function* resolveShares(
  intent: Intent,
): Generator<CallRequest[], { intent: Intent; notes: string[] } | string, Outcome[]> {
  const input = { ...intent.input };
  const notes: string[] = [];
  for (const [slot, share] of Object.entries(intent.shares)) {
    const reading = readingsFor(intent, slot);
    if (!reading) return `I cannot work out a part of a balance for ${describeIntent(intent)}; say the amount.`;
    const [outcome] = yield [{ name: reading.name, args: reading.args, saying: [] }];
    if (outcome?.kind !== 'success')
      return describeOutcome({ operation: reading.name, input: reading.args }, outcome ?? MISSING);
    const computed = computeAmount(outcome.data, reading, share);
    if ('problem' in computed) return computed.problem;
    input[slot] = computed.amount;
    notes.push(computed.note);
  }
  return { intent: { ...intent, input, shares: {} }, notes };
}

/** Does what the agenda lists: readings beside each other, changes one at a time, nothing after one that failed. */
export function* carryOut(agenda: Agenda): Course {
  const lines: string[] = [];
  let [last, isLastDone]: [Intent | null, boolean] = [null, false];
  if (agenda.remarks.some(({ kind }) => kind === 'portfolio')) lines.push(...(yield* readPortfolio()));
  const waiting = [...agenda.intents];
  const saying =
    agenda.readAs.length > 0 && agenda.intents.length > 0 ? [`I read ${agenda.readAs.join(' and ')}.`] : [];
  while (waiting.length > 0) {
    const reads = waiting.findIndex((intent) => isWrite(intent));
    const group = reads === 0 ? waiting.splice(0, 1) : waiting.splice(0, reads < 0 ? waiting.length : reads);
    const [first] = group;
    if (first === undefined) break;
    last = group.at(-1) ?? last;
    isLastDone = false;
    let notes = saying.splice(0);
    if (isWrite(first)) {
      const complete = yield* lookUpMissing(first, waiting);
      if ('lines' in complete) return { last, isLastDone, ...complete, lines: [...lines, ...complete.lines] };
      const resolved = yield* resolveShares(complete);
      if (typeof resolved === 'string') {
        lines.push(resolved, ...describeRest(waiting));
        break;
      }
      notes = [...notes, ...resolved.notes];
      group[0] = resolved.intent;
      last = resolved.intent;
    }
    const next = waiting.findIndex(isWrite);
    const user = last?.operation === 'swap' ? waiting[next] : undefined;
    const isMeasured = last !== null && user !== undefined && takesReceived(user);
    const held = isMeasured && last ? yield* readHeld(last) : null;
    const outcomes = yield group.map((intent, index) => request(intent, index === 0 ? notes : []));
    lines.push(...group.map((intent, index) => describeOutcome(intent, outcomes[index] ?? MISSING)));
    const isDone = outcomes.every(({ kind }) => kind === 'success');
    isLastDone = isDone || outcomes.some(mayHaveHappened);
    if (!isDone && waiting.some(isWrite)) {
      lines.push(...describeRest(waiting));
      break;
    }
    if (last?.operation !== 'swap') continue;
    const told = outcomes.at(-1);
    const received = isMeasured ? yield* measureReceived(last, held, told) : readReceived(told);
    if (received !== null) last = { ...last, received };
    if (!isMeasured) continue;
    if (received === null) {
      lines.push('I cannot tell how much came out of the swap.', ...describeRest(waiting));
      break;
    }
    waiting[next] = { ...user, input: { ...user.input, amount: received }, shares: {} };
  }
  return { lines, last, isLastDone };
}

// A transaction that was sent and not seen mined, or lost sight of.
const mayHaveHappened = ({ data }: Outcome): boolean => data.code === 'TIMEOUT' || data.code === 'UNEXPECTED';

const describeRest = (intents: readonly Intent[]): string[] =>
  intents.length === 0 ? [] : [`I stopped there, and did not do the rest: ${intents.map(describeIntent).join('; ')}.`];
