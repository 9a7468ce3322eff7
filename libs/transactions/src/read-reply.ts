import { parseState } from './parse-job.js';
import type {
  CancelResult,
  LaneTransition,
  LockResult,
  RefusalReason,
  ReserveResult,
  SpendingResult,
  Transition,
} from './transition.js';

type Refused = Extract<Transition, { outcome: 'refused' }>;

/** Reads what a script answers: `done` or `unchanged` and the state, or `refused`, why, and the state. */
export function readTransition(reply: readonly string[]): Transition {
  const [outcome, state] = reply;
  if (outcome === 'refused') return readRefusal(reply);
  return { outcome: outcome === 'done' ? 'done' : 'unchanged', state: parseState(state) };
}

function readRefusal([, reason, state]: readonly string[]): Refused {
  return { outcome: 'refused', reason: reason as RefusalReason, state: state ? parseState(state) : null };
}

export function readLaneTransition([outcome, reason]: readonly string[]): LaneTransition {
  if (outcome === 'refused') return { outcome, reason: reason as RefusalReason };
  return { outcome: outcome === 'done' ? 'done' : 'unchanged' };
}

export function readReserve(reply: readonly string[]): ReserveResult {
  const result = readTransition(reply);
  return result.outcome === 'refused' ? result : { ...result, nonce: Number(reply[2]) };
}

export function readCancel(reply: readonly string[]): CancelResult {
  const [outcome, state] = reply;
  return outcome === 'cancelling' ? { outcome, state: parseState(state) } : readTransition(reply);
}

export function readSpending(reply: readonly string[]): SpendingResult {
  const [outcome, reason, state, asset = '', left = '0'] = reply;
  if (outcome !== 'refused' || reason !== 'over_limit') return readTransition(reply);
  return { outcome, reason, state: parseState(state), asset, left: BigInt(left) };
}

export function readLock(reply: readonly string[]): LockResult {
  const [outcome, reason, state, holder = ''] = reply;
  if (outcome !== 'refused' || reason !== 'locked') return readTransition(reply);
  return { outcome, reason, state: parseState(state), holder };
}
