import { AgentKitError, askPrice } from '@tollgate/agent-kit/planner';
import { TargetRefusedError } from '@tollgate/common';
import type { PaymentChallenge } from '@tollgate/protocol';
import type { JobRecord } from '@tollgate/transactions';

import { Turns } from './turns.js';

export interface PriceQuestionsOptions {
  fetch: typeof globalThis.fetch;
  /** Longest wait for one price. */
  timeoutMs: number;
  /** How long a job waits for a server that does not answer. */
  patienceMs: number;
}

const LIMITS = { total: 32, perOrigin: 16 };
/** Who waits longer for his turn is asked again later: a lane plans a few jobs at a time, and others want to be planned. */
const LONGEST_QUEUE_MS = 2_000;
/** What servers say that cannot answer now. */
const BUSY_STATUSES = [425, 429, 502, 503, 504];
const MOST_REMEMBERED = 10_000;

/** Asks for prices, a few at a time, and knows for how long each job has been waiting for one. */
export class PriceQuestions {
  readonly #options: PriceQuestionsOptions;
  readonly #turns = new Turns(LIMITS);
  readonly #waitingSinceMs = new Map<string, number>();

  constructor(options: PriceQuestionsOptions) {
    this.#options = options;
  }

  /**
   * @param job null: nobody waits for the answer but who asks now
   * @throws AgentKitError `NETWORK_ERROR` when it may be asked again later; any other code is final
   */
  async ask(url: string, job: Pick<JobRecord, 'id' | 'state'> | null): Promise<PaymentChallenge> {
    try {
      const challenge = await this.#askInTurn(url);
      if (job) this.#waitingSinceMs.delete(job.id);
      return challenge;
    } catch (error) {
      if (!job || !isTemporary(error)) throw error;
      throw this.#isPatient(job) ? new AgentKitError('NETWORK_ERROR', error.message) : giveUp(error);
    }
  }

  async #askInTurn(url: string): Promise<PaymentChallenge> {
    const { fetch, timeoutMs } = this.#options;
    const queue = new AbortController();
    const busy = new AgentKitError(
      'NETWORK_ERROR',
      'Too many prices are being asked over the network; ask again later.',
    );
    const timer = setTimeout(() => queue.abort(busy), LONGEST_QUEUE_MS);
    return this.#turns.run(new URL(url).origin, queue.signal, () => {
      clearTimeout(timer);
      return askPrice(explainRefusals(fetch), url, timeoutMs);
    });
  }

  #isPatient({ id, state }: Pick<JobRecord, 'id' | 'state'>): boolean {
    // With a nonce taken it must not wait: everything that the wallet sends later would wait for it.
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
    suggestion: 'Nothing was paid. See that the server answers, and submit the job again.',
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
