import {
  checkTokens,
  fingerprintOfJob,
  problemOfSubmit,
  verifyAgentJobMessage,
  type MessageRefusalCode,
  type VerifiedMessage,
  type WalletDirectory,
} from '@tollgate/agent-jobs';
import type { ApiKeyStore } from '@tollgate/common';
import { acceptJob, type Journal, type JobQueue } from '@tollgate/journal';

export interface MessageParts {
  journal: Journal;
  directory: WalletDirectory;
  apiKeys: ApiKeyStore;
  /** Wakes the process that holds the job's lane. */
  queue: JobQueue;
  agentSecret: string;
  maxAgeMs: number;
}

/** Why a job of another service is not carried out. Trying again does not help. */
export type RefusalCode = MessageRefusalCode | 'wallet_unknown' | 'idempotency_conflict' | 'idempotency_key_used';

/** `postponed`: the message cannot be judged now, or the lane takes no job; try again later. */
export type MessageDecision =
  | { outcome: 'accepted' | 'known'; jobId: string }
  | { outcome: 'postponed'; why: string }
  | { outcome: 'refused'; code: RefusalCode; detail: string; keyId: string | null };

const KEY_CODES = { conflict: 'idempotency_conflict', forgotten: 'idempotency_key_used' } as const;

/**
 * Authenticates a message by its signature and its key, and writes its job into the journal before anything else is
 * done for it.
 */
export async function journalMessage(message: unknown, parts: MessageParts): Promise<MessageDecision> {
  try {
    const { apiKeys, agentSecret, maxAgeMs } = parts;
    const verdict = await verifyAgentJobMessage(message, { apiKeys, agentSecret, maxAgeMs, nowMs: Date.now() });
    return verdict.outcome === 'refused' ? verdict : await submit(verdict, parts);
  } catch (error) {
    return { outcome: 'postponed', why: error instanceof Error ? error.message : String(error) };
  }
}

async function submit(
  { request, idempotencyKey, keyId }: VerifiedMessage,
  { journal, queue, directory }: MessageParts,
): Promise<MessageDecision> {
  const { operation, wallet, input } = request;
  const entry = await directory.find(wallet);
  if (!entry) return { outcome: 'refused', code: 'wallet_unknown', detail: 'There is no such wallet.', keyId };
  const problems = await checkTokens({ directory, journal }, { request, keyId, idempotencyKey });
  if (problems.length > 0) return { outcome: 'refused', code: 'request_invalid', detail: problems.join('; '), keyId };
  const result = await acceptJob(
    { journal, queue },
    // A parsed input is plain JSON.
    {
      ...{ lane: entry.lane, wallet, operation, keyId, idempotencyKey, input: input as never },
      fingerprint: fingerprintOfJob(request),
    },
  );
  switch (result.outcome) {
    case 'accepted':
    case 'known':
      return { outcome: result.outcome, jobId: result.jobId };
    case 'conflict':
    case 'forgotten': {
      const { detail } = problemOfSubmit(result.outcome, wallet);
      return { outcome: 'refused', code: KEY_CODES[result.outcome], detail, keyId };
    }
    case 'refused':
      return { outcome: 'postponed', why: problemOfSubmit(result.reason, wallet).detail };
  }
}
