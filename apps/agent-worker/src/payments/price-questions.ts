import { AgentKitError, askPrice } from '@tollgate/agent-kit/planner';
import type { Offers } from '@tollgate/client/internal';
import { TargetRefusedError } from '@tollgate/http';
import type { JobRecord } from '@tollgate/journal';

import { Turns } from './turns.js';

export interface PriceQuestionsOptions {
  fetch: typeof globalThis.fetch;
  /** Time limit for one price request. */
  timeoutMs: number;
  /** How long a job waits for a server that does not answer. */
  patienceMs: number;
}

const JOB_LIMITS = { total: 32, perOrigin: 16 };
/** Fewer than the dry runs of a wallet, so that slow servers leave some for other operations. */
const DRY_RUN_LIMITS = { total: 8, perOrigin: 8 };
/**
 * A request that waits longer for its turn is retried later: a lane plans a few jobs at a time, and other jobs have to
 * be planned too.
 */
const LONGEST_QUEUE_MS = 2_000;
/** Statuses of servers that cannot answer now. */
const BUSY_STATUSES = [425, 429, 502, 503, 504];
const MOST_REMEMBERED = 10_000;

/** Requests prices, a few at a time, and tracks how long each job has been waiting for one. */
export class PriceQuestions {
  readonly #options: PriceQuestionsOptions;
  /** Apart, so that dry runs, which cost their caller nothing, take no turn of a job. */
  readonly #jobTurns = new Turns(JOB_LIMITS);
  readonly #dryRunTurns = new Turns(DRY_RUN_LIMITS);
  readonly #waitingSinceMs = new Map<string, number>();

  constructor(options: PriceQuestionsOptions) {
    this.#options = options;
  }

  /**
   * @param job null: a dry run, which gets its turn at once or fails
   * @throws AgentKitError `NETWORK_ERROR` when it may be tried again later; any other code is final
   */
  async ask(url: string, job: Pick<JobRecord, 'id' | 'state'> | null): Promise<Offers> {
    try {
      const offers = await (job
        ? this.#askInTurn(url, this.#jobTurns, LONGEST_QUEUE_MS)
        : this.#askInTurn(url, this.#dryRunTurns, 0));
      if (job) this.#waitingSinceMs.delete(job.id);
      return offers;
    } catch (error) {
      if (!job || !isTemporary(error)) throw error;
      throw this.#isPatient(job) ? new AgentKitError('NETWORK_ERROR', error.message) : giveUp(error);
    }
  }

  async #askInTurn(url: string, turns: Turns, longestMs: number): Promise<Offers> {
    const { fetch, timeoutMs } = this.#options;
    const queue = new AbortController();
    const busy = new AgentKitError(
      'NETWORK_ERROR',
      'Too many price requests are running over the network. Try again later.',
    );
    const timer = setTimeout(() => queue.abort(busy), longestMs);
    return turns.run(new URL(url).origin, queue.signal, () => {
      clearTimeout(timer);
      return askPrice(explainRefusals(fetch), { url }, { timeoutMs });
    });
  }

  #isPatient({ id, state }: Pick<JobRecord, 'id' | 'state'>): boolean {
    // With a nonce taken it must not wait, because every later transaction of the wallet would wait for it.
    if (state === 'RESERVED') return false;
    const sinceMs = this.#waitingSinceMs.get(id) ?? performance.now();
    if (performance.now() - sinceMs >= this.#options.patienceMs) {
      this.#waitingSinceMs.delete(id);
      return false;
    }
    const [oldest] = this.#waitingSinceMs.size >= MOST_REMEMBERED ? this.#waitingSinceMs.keys() : [];
    if (oldest !== undefined) this.#waitingSinceMs.delete(oldest);
    this.#waitingSinceMs.set(id, sinceMs);
    return true;
  }
}

function isTemporary(error: unknown): error is AgentKitError {
  if (!(error instanceof AgentKitError)) return false;
  return error.code === 'NETWORK_ERROR' || BUSY_STATUSES.includes(Number(error.details['status']));
}

function giveUp({ message }: AgentKitError): AgentKitError {
  return new AgentKitError('PAYMENT_FAILED', message, {
    suggestion: 'Nothing was paid. Check that the server answers, and submit the job again.',
  });
}

function explainRefusals(fetch: typeof globalThis.fetch): typeof globalThis.fetch {
  return (input, init) =>
    fetch(input, init).catch((error: unknown) => {
      if (!(error instanceof TargetRefusedError)) throw error;
      const code = error.code === 'encoded_answer' ? 'PAYMENT_FAILED' : 'INVALID_INPUT';
      throw new AgentKitError(code, `The URL cannot be paid for: ${error.message}`, {
        details: { refusal: error.code },
        suggestion: 'Nothing was paid. Give an https URL on the public internet.',
      });
    });
}
