import { parseState } from './parse-job.js';
import type {
  CancelResult,
  FillResult,
  LaneTransition,
  LockResult,
  RefusalReason,
  ReleaseResult,
  ReserveResult,
  SpendingResult,
  Transition,
} from './transition.js';

type Refused = Extract<Transition, { outcome: 'refused' }>;

/** Parses a script's reply: `done` or `unchanged` and the state, or `refused`, the reason and the state. */
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

export function readFill([outcome, detail = '']: readonly string[]): FillResult {
  if (outcome === 'refused') return { outcome, reason: detail as RefusalReason };
  return { outcome: outcome === 'done' ? 'done' : 'unchanged', jobId: detail };
}

export function readRelease([outcome, second, , ...counts]: readonly string[]): ReleaseResult {
  if (outcome === 'done') return { outcome, endedJobs: Number(second) };
  if (outcome !== 'refused') return { outcome: 'unchanged' };
  const reason = second as RefusalReason;
  const [openJobs = 0, steps = 0, parkedJobs = 0] = counts.map(Number);
  return reason === 'lane_busy' ? { outcome, reason, openJobs, steps, parkedJobs } : { outcome, reason };
}

/**
 * The replies of a chain of transitions, by name; null for one that was not requested, or was skipped after a refusal.
 */
export function findReply(names: readonly string[], replies: readonly string[][]): (name: string) => string[] | null {
  return (name) => {
    const reply = replies[names.indexOf(name)];
    return reply && reply[0] !== 'skipped' ? reply : null;
  };
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
