import { ChainUnavailableError } from '@tollgate/chain';
import { readSendRefusal } from '@tollgate/protocol';

import type { JobFailure, JobRecord, WaitReason } from '../jobs/job.js';
import type { LaneStatus } from '../jobs/transition.js';
import { flightName } from '../lanes/flight-watch.js';
import { writeFor, type LaneWork } from '../lanes/lane-work.js';

/**
 * Why a lane is paused whose wallet has too little native coin. It resumes by itself once the node accepts its
 * transactions again.
 */
export const WALLET_IS_EMPTY: JobFailure = {
  code: 'INSUFFICIENT_FUNDS',
  message: 'The wallet does not have enough of the native coin for its next transaction.',
  suggestion: 'Send native coin to the wallet. Its jobs then continue by themselves.',
};

export const RPC_SUGGESTIONS = {
  chain_differs: 'Set RPC_URL to a server of the chain of CHAIN_ID, and restart the process.',
  rpc_lags: 'It goes on once the server has caught up. If that takes long, name another one in RPC_URL.',
  rpc_unreachable: 'It goes on once a server answers. Check RPC_URL and the network, or name another one.',
  rpc_refuses: 'It is tried again. Look at the log and at the limits of the RPC server, and name another one.',
};

const CODES: Partial<Record<ChainUnavailableError['reason'], keyof typeof RPC_SUGGESTIONS>> = {
  rpc_wrong_chain: 'chain_differs',
  rpc_inconsistent: 'rpc_lags',
  rpc_unreachable: 'rpc_unreachable',
  rpc_timeout: 'rpc_unreachable',
  rpc_error: 'rpc_refuses',
  rpc_http_error: 'rpc_refuses',
  rpc_rate_limited: 'rpc_refuses',
  rpc_malformed: 'rpc_refuses',
  rpc_response_too_large: 'rpc_refuses',
};

/** Undefined: the error says nothing of what the job waits for. */
export function explainError(planner: LaneWork['planner'], error: unknown): WaitReason | undefined {
  if (error instanceof ChainUnavailableError) {
    const code = CODES[error.reason];
    if (code === undefined) return undefined;
    return { code, message: withWords(error.message, error.words), suggestion: RPC_SUGGESTIONS[code] };
  }
  const explained = planner.explainDelay?.(error);
  if (explained || !(error instanceof Error) || error.cause === undefined) return explained ?? undefined;
  return explainError(planner, error.cause);
}

/** The sentence with the server's own words, which are untrusted: one line, cut, in quotes, and without any address. */
function withWords(sentence: string, words: string | undefined): string {
  const line = (words ?? '')
    .slice(0, 500)
    .replace(/\w+:\/\/\S+/g, '…')
    .replace(/[\p{C}\p{Z}\s]+/gu, ' ')
    .trim()
    .slice(0, MAX_WORDS);
  return line === '' ? sentence : `${sentence.replace(/\.$/, '')}: ${JSON.stringify(line)}.`;
}

const MAX_WORDS = 120;

/** Why no server has taken the job's bytes at the last sending. */
export function explainNotTaken(work: LaneWork, job: JobRecord): WaitReason | undefined {
  const { watch, wallet, stop, settings, planner } = work;
  if (job.state === 'SIGNED' && wallet.isEmpty) return stop ?? undefined;
  const error = watch.findNotTaken(flightName(writeFor(work, job)));
  if (error === null) return undefined;
  const words = error instanceof ChainUnavailableError ? error.words : undefined;
  // The account has delegated code, and its nodes take one transaction at a time.
  const isLimit = words !== undefined && readSendRefusal(words) === 'in_flight';
  return isLimit ? lackOfRoom({ settings: { ...settings, maxInFlight: 1 } }) : explainError(planner, error);
}

export function lackOfRoom({ settings: { maxInFlight, names } }: Pick<LaneWork, 'settings'>): WaitReason {
  return {
    code: 'in_flight_limit',
    message: `As many transactions of the wallet as it may have at once (${maxInFlight}) are not mined yet.`,
    suggestion: `It goes on once they are mined. If they are not, see what the oldest of them waits for. The limit is ${names.maxInFlight}; a wallet with delegated code has one at a time.`,
  };
}

/** Why a lane starts nothing new; null: it does. */
export function explainStop({ paused, frozen }: Pick<LaneStatus, 'paused' | 'frozen'>): WaitReason | null {
  if (frozen !== null) return FROZEN[frozen === 'chain_ahead' ? 'chain_ahead' : 'lost'];
  if (paused === null) return null;
  const { code, message, suggestion } = paused;
  return { code: code === WALLET_IS_EMPTY.code ? 'balance' : 'wallet_paused', message, suggestion };
}

const FROZEN = {
  lost: {
    code: 'wallet_frozen',
    message:
      'Redis restarted or may have lost writes: nothing is signed before the wallet was compared with the chain.',
    suggestion: 'A worker compares it by itself. If that takes long, look at the RPC servers and at the log.',
  },
  chain_ahead: {
    code: 'wallet_frozen',
    message: 'The chain has transactions of the wallet that the journal does not know.',
    suggestion: 'Find out what sent them, then let an operator adopt the wallet again: tollgate wallets adopt.',
  },
} as const;

export const APPROVAL: WaitReason = {
  code: 'approval',
  message: "The job's plan needs an approval.",
  suggestion: 'Look at its plan, then approve it by its floorsHash, or reject it.',
};

export const ANSWER: WaitReason = {
  code: 'answer',
  message: 'The server that was paid has not answered yet, or it cannot be read yet what came of the transaction.',
  suggestion: 'It is asked again until it answers, or its time is over; then an operator decides.',
};

/**
 * Notes why a job stands still, once that has lasted, and that it does no longer (null). Undefined: nothing is known. A
 * job that moves costs no command. An error is reported only, since nothing depends on it.
 * @param leastMs for how long it is known to wait
 */
export async function tellWaiting(
  work: LaneWork,
  job: JobRecord,
  why: WaitReason | null | undefined,
  leastMs = 0,
): Promise<void> {
  if (why === undefined) return;
  const { journal, waits, settings, onTrouble } = work;
  const write = writeFor(work, job);
  const name = flightName(write);
  const forMs = Math.max(leastMs, waits.see(name, why?.code ?? null));
  if (why === null) {
    if (job.waiting === null) return;
  } else {
    // Only a person ends a wait for an approval.
    const isLong = forMs >= settings.waitingAfterMs || why.code === 'approval';
    if (!isLong) return;
    const { waiting } = job;
    if (waiting?.code === why.code && (waiting.message === why.message || !waits.takeRenewal(name))) return;
  }
  try {
    await journal.noteWaiting({ ...write, why, forMs });
  } catch (error) {
    onTrouble(error);
  }
}
